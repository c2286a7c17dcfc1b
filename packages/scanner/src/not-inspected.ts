/** Why an archive, or a part of one, was not inspected: its message is a sentence for the report. */
export class NotInspected extends Error {}

/** A file of an archive. */
export interface UnpackedEntry {
  readonly name: string
  /** Undefined for an entry that needs a password. */
  readonly bytes: Uint8Array | undefined
}
