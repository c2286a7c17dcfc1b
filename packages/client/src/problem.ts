import { RegistryError, errorTable, type ErrorCode, type Problem } from '@skillstead/protocol'

/** The error that a node answered, or `upstream_failed` for an answer that no node gives. */
export async function toRegistryError(response: Response): Promise<RegistryError> {
  const problem = await readProblem(response)
  if (!problem)
    return new RegistryError('upstream_failed', `The server answered ${response.status} without saying why.`)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new RegistryError(problem.code, problem.detail, {
    errors: problem.errors,
    requestId: problem.requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

async function readProblem(response: Response): Promise<Problem | undefined> {
  try {
    const problem = (await response.json()) as Partial<Problem>
    return isErrorCode(problem.code) && typeof problem.detail === 'string' ? (problem as Problem) : undefined
  } catch {
    return undefined
  }
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code)
}
