/** Why a delivery is refused, and the status that tells its sender. */
export const webhookErrorStatuses = {
  /** A header that proves where it comes from is not there. */
  missing_header: 401,
  /** No signature is valid under a known secret. */
  bad_signature: 401,
  /** Signed longer ago than is tolerated: perhaps one that somebody recorded and sends again. */
  too_old: 401,
  /** Signed further in the future than is tolerated: a clock is wrong. */
  too_new: 401,
  /** It is no event, or its headers say something else than its body. */
  malformed: 400,
  /** The body is larger than is read. */
  too_large: 413,
} as const

export type WebhookErrorCode = keyof typeof webhookErrorStatuses

/** A delivery that is refused. The message is a sentence that may be told to the sender. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
