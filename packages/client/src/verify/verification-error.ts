/** The part of a record or checkpoint whose verification failed. */
export type VerifiedPart =
  | 'record'
  | 'key'
  | 'signature'
  | 'checkpoint'
  | 'leaf'
  | 'inclusion'
  | 'consistency'
  | 'entry'
  | 'content'

/** A failed verification; the message names the mismatch. */
export class VerificationError extends Error {
  readonly part: VerifiedPart

  constructor(part: VerifiedPart, message: string) {
    super(message)
    this.name = 'VerificationError'
    this.part = part
  }
}
