/** Thrown if an archive, or a part of one, cannot be inspected. Its message is a sentence for the report. */
export class NotInspected extends Error {}

/** A file of an archive. */
export interface UnpackedEntry {
  readonly name: string
  /** Undefined for an entry that needs a password. */
  readonly bytes: Uint8Array | undefined
}
