import {
  RegistryError,
  isResponseCode,
  parseForeignJson,
  type ErrorCode,
  type FieldError,
  attempt,
  toFields,
} from '@skillstead/protocol/wire'

/** Maximum number of JSON values in an error response: enough for 1,000 fields, several times what a node sends. */
const valuesMax = 10_000

/** The error codes of responses without a problem document, such as those of a proxy, by their status. */
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

/**
 * Converts a failed response to an error. If a proxy sent the response instead of a node, the status determines the code,
 * or the code is `upstream_failed`.
 */
export function toResponseError(response: Response, text: string): RegistryError {
  const retryAfterSeconds = readRetryAfter(response.headers)
  const problem = toFields(attempt(() => parseForeignJson(text, { valuesMax })))
  if (isResponseCode(problem.code) && typeof problem.detail === 'string') {
    const errors = Array.isArray(problem.errors) ? problem.errors.filter(isFieldError) : undefined
    const requestId = typeof problem.requestId === 'string' ? problem.requestId : undefined
    return new RegistryError(problem.code, problem.detail, { errors, requestId, retryAfterSeconds })
  }
  const code = bareCodes[response.status] ?? 'upstream_failed'
  const detail = `The server returned ${response.status} without a reason. Is this the URL of a registry?`
  return new RegistryError(code, detail, { retryAfterSeconds })
}

function isFieldError(error: unknown): error is FieldError {
  const { path, message } = toFields(error)
  return typeof path === 'string' && typeof message === 'string'
}

/** Converts `Retry-After` (RFC 9110, section 10.2.3) to seconds. A date counts from the `Date` of the same response. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}
