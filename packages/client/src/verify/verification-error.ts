/** The part of what is verified that something is wrong with, or right. */
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

/** Something does not match; the message is a sentence that names what. */
export class VerificationError extends Error {
  readonly part: VerifiedPart

  constructor(part: VerifiedPart, message: string) {
    super(message)
    this.name = 'VerificationError'
    this.part = part
  }
}
