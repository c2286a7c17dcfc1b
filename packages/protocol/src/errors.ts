import type { AllowanceName } from './allowances.ts'

/**
 * Every error code of a response with its status (RFC 9110) and its title. Codes are stable; titles are for people and
 * may change.
 */
export const errorTable = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A valid API key is required' },
  forbidden: { status: 403, title: 'You may not do this' },
  plan_required: { status: 403, title: 'Your plan does not include this' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'This URL does not support the method' },
  version_exists: { status: 409, title: 'This version is already published with other content' },
  name_taken: { status: 409, title: 'The name is taken' },
  invalid_transition: { status: 409, title: 'The state does not allow this' },
  conflict: { status: 409, title: 'The request conflicts with what is stored' },
  recalled: { status: 410, title: 'The version was recalled' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The media type of the body is not supported' },
  invalid_skill: { status: 422, title: 'The skill is not valid' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used with another body' },
  rate_limited: { status: 429, title: 'Too many requests' },
  taken_down: { status: 451, title: 'The content is under a takedown' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  not_implemented: { status: 501, title: 'Not implemented' },
  upstream_failed: { status: 502, title: 'Another server failed' },
  offline: { status: 503, title: 'Not available offline' },
  overloaded: { status: 503, title: 'The node is overloaded' },
  shutting_down: { status: 503, title: 'The node is shutting down' },
  upstream_timeout: { status: 504, title: 'Another server did not answer in time' },
} as const satisfies Record<string, { status: number; title: string }>

export type ResponseErrorCode = keyof typeof errorTable

/** The codes of errors that occur only when a program opens, uses or closes a registry itself: no response has them. */
export const localErrorTable = {
  no_registry: { status: 404, title: 'There is no registry at this path' },
  not_a_registry: { status: 422, title: 'The file is not a registry' },
  newer_schema: { status: 409, title: 'A newer version made this registry' },
  older_schema: { status: 409, title: 'An older version made this registry' },
  unsupported_schema: { status: 409, title: 'This version cannot read the registry' },
  damaged: { status: 500, title: 'The storage is damaged' },
  locked: { status: 503, title: 'Another process holds the registry' },
  needs_write: { status: 409, title: 'The registry cannot be read where its folder cannot be written' },
  read_only: { status: 403, title: 'The registry is open for reading only' },
  closed: { status: 503, title: 'The registry is closed' },
} as const satisfies Record<string, { status: number; title: string }>

/** The code of an error: of a response, or of a program that opens a registry itself. */
export type ErrorCode = ResponseErrorCode | keyof typeof localErrorTable

const allErrors: Readonly<Record<ErrorCode, { readonly status: number; readonly title: string }>> = {
  ...errorTable,
  ...localErrorTable,
}

/** A problem with one field of a request; `path` is dotted, as in `files.0.path`. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The body of an error response, `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ResponseErrorCode
  readonly requestId: string
  readonly errors?: readonly FieldError[]
}

/** The stable URI of a problem; it ends in the code and does not resolve (RFC 9457, section 3.1.1). */
export function toProblemType(code: ResponseErrorCode): string {
  return `urn:skillstead:problem:${code}`
}

/** Options of a `RegistryError`. */
export interface RegistryErrorOptions {
  /** One entry per invalid field. */
  readonly errors?: readonly FieldError[]
  /** Seconds after which the same request may succeed; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The anti-abuse limit that caused `rate_limited`. */
  readonly allowance?: AllowanceName
  /** The cause, which is logged and never sent to a caller. */
  readonly cause?: unknown
  /** Id of the HTTP request that failed. */
  readonly requestId?: string
}

/** Marks errors for {@link isRegistryError}: `instanceof` is false for the class of another copy of the package. */
const brand = Symbol.for('skillstead.RegistryError')

/**
 * The registry's only error class, the same in the server and the client. Use {@link isRegistryError} to recognise it.
 *
 * @example
 * throw new RegistryError('not_found', "There is no skill 'alice/tea' that you may see.")
 */
export class RegistryError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly retryAfterSeconds: number | undefined
  readonly allowance: AllowanceName | undefined
  readonly requestId: string | undefined

  constructor(code: ErrorCode, detail: string, options: RegistryErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.name = 'RegistryError'
    this.code = code
    this.status = allErrors[code].status
    this.errors = options.errors ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allowance = options.allowance
    this.requestId = options.requestId
  }

  get [brand](): true {
    return true
  }
}

/**
 * Whether a value is a {@link RegistryError}, of this or of another copy of the package, and has one of the codes if
 * any are given.
 *
 * @example
 * if (isRegistryError(error, 'not_found')) return undefined
 */
export function isRegistryError(error: unknown, ...codes: readonly ErrorCode[]): error is RegistryError {
  if (!(error instanceof Error) || !(brand in error)) return false
  return codes.length === 0 || codes.some((code) => code === readErrorCode(error))
}

/** The result of work; undefined if it fails with a {@link RegistryError} that has one of these codes. */
export function orUndefined<T>(work: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isRegistryError(error, ...codes)) return undefined
    throw error
  })
}

/** The code of an error of the platform or of this API, such as `ENOENT` or `not_found`; undefined if it has none. */
export function readErrorCode(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}

/** The message of an error; a thrown value that is not an Error is converted to text. */
export function toErrorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Converts an error to the problem document of a response. Throws a TypeError for an error that no response has. */
export function toProblem(error: RegistryError, requestId: string): Problem {
  const { code } = error
  if (!isResponseCode(code)) throw new TypeError(`No response has an error with the code ${code}.`)
  return {
    type: toProblemType(code),
    title: errorTable[code].title,
    status: error.status,
    detail: error.message,
    code,
    requestId,
    ...(error.errors.length > 0 && { errors: error.errors }),
  }
}

/** Whether a response can have an error with this code. */
export function isResponseCode(code: unknown): code is ResponseErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code)
}
