/** A file beside a SKILL.md. */
export interface PackageFile {
  readonly path: string
  readonly bytes: Uint8Array
}
