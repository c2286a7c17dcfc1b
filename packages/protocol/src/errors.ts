import type { AllowanceName } from './allowances.ts'

/**
 * Every error code with its status (RFC 9110) and its title. Codes are stable; titles are for people and may change.
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

export type ErrorCode = keyof typeof errorTable

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
  readonly code: ErrorCode
  readonly requestId: string
  readonly errors?: readonly FieldError[]
}

/** The stable URI of a problem; it ends in the code and does not resolve (RFC 9457, section 3.1.1). */
export function toProblemType(code: ErrorCode): string {
  return `urn:skillstead:problem:${code}`
}

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

/** The registry's only error class, the same in the server and the client. */
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
    this.status = errorTable[code].status
    this.errors = options.errors ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allowance = options.allowance
    this.requestId = options.requestId
  }
}

/** Converts an error to its problem document. */
export function toProblem(error: RegistryError, requestId: string): Problem {
  return {
    type: toProblemType(error.code),
    title: errorTable[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.errors.length > 0 && { errors: error.errors }),
  }
}
