/** The reasons for refusing a delivery, with the status of the response. */
export const webhookErrorStatuses = {
  /** A required signature header is missing. */
  missing_header: 401,
  /** No signature is valid under a known secret. */
  bad_signature: 401,
  /** Signed too long ago: possibly a replayed recording. */
  too_old: 401,
  /** Signed too far in the future: a clock is wrong. */
  too_new: 401,
  /** The body is not an event, or the headers contradict it. */
  malformed: 400,
  /** The body is larger than the limit. */
  too_large: 413,
} as const

/** Why a delivery was refused. */
export type WebhookErrorCode = keyof typeof webhookErrorStatuses

/** A refused delivery. The message may be sent to the sender. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
