/** A file of a skill: its published bytes, a text, or the reason, as a sentence, why it could not be read. */
export type ScanFile = { readonly path: string } & (
  | { readonly text: string }
  | { readonly bytes: Uint8Array; readonly executable?: boolean | undefined }
  | { readonly unread: string }
)
