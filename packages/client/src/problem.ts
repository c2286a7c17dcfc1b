import {
  RegistryError,
  errorTable,
  parseForeignJson,
  type ErrorCode,
  type FieldError,
  type Problem,
} from '@skillstead/protocol/wire'

/** The errors of 1,000 fields, several times what a node answers. */
const valuesMax = 10_000

/** What a status means where something before the node answers, such as a proxy, and does not say why. */
const bareCodes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
  429: 'rate_limited',
  451: 'taken_down',
  503: 'overloaded',
  504: 'upstream_timeout',
}

/** The error that a node answered, or the nearest one, `upstream_failed` as the last, for an answer that no node gives. */
export function toRegistryError(response: Response, text: string): RegistryError {
  const retryAfterSeconds = readRetryAfter(response.headers)
  const problem = readProblem(text)
  if (problem) {
    const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFieldError) : undefined
    const requestId = typeof problem.requestId === 'string' ? problem.requestId : undefined
    return new RegistryError(problem.code, problem.detail, { errors, requestId, retryAfterSeconds })
  }
  const code = bareCodes[response.status] ?? 'upstream_failed'
  const detail = `The server answered ${response.status} without saying why. Is a registry at this address?`
  return new RegistryError(code, detail, { retryAfterSeconds })
}

function readProblem(text: string): Problem | undefined {
  try {
    const problem = parseForeignJson(text, { valuesMax }) as Partial<Problem> | null
    return isErrorCode(problem?.code) && typeof problem.detail === 'string' ? (problem as Problem) : undefined
  } catch {
    return undefined
  }
}

function isFieldError(error: unknown): error is FieldError {
  const { path, message } = (error ?? {}) as Partial<FieldError>
  return typeof path === 'string' && typeof message === 'string'
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code)
}

/** Seconds to wait by `Retry-After` (RFC 9110, section 10.2.3): a number of them, or a date by the server's own clock. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}
