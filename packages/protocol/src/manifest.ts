/** A file in the manifest, from which the digest of a version is computed. */
export interface ManifestFile {
  readonly path: string
  readonly size: number
  /** `sha256:` and the hash in lower-case hexadecimal. */
  readonly digest: string
  /** Whether the file may be run as a program. Default: false. */
  readonly executable?: boolean | undefined
}

/**
 * The text whose SHA-256 is the digest of a version: a line `<digest> <size> <path>` for each file, SKILL.md first,
 * then by path. After the size of an executable file follows `+x`, as in `<digest> <size>+x <path>`: a size has only
 * digits, so that no other list of files has the same text. Anyone with the files or their list can recompute the
 * digest.
 */
export function toManifest(files: readonly ManifestFile[]): string {
  return files
    .toSorted(compareFiles)
    .map(({ digest, size, executable, path }) => `${digest} ${size}${executable ? '+x' : ''} ${path}\n`)
    .join('')
}

const linePattern = /^(sha256:[0-9a-f]{64}) (\d{1,9})(\+x)? (.+)$/s

/** Parses a line of {@link toManifest}, without its line break; undefined for other text. */
export function parseManifestLine(line: string): ManifestFile | undefined {
  const [, digest, size, mark, path] = linePattern.exec(line) ?? []
  if (digest === undefined || path === undefined) return undefined
  return { path, size: Number(size), digest, ...(mark && { executable: true }) }
}

/** Compares by path: SKILL.md first, then by code unit. The order of files in manifests, archives and lists. */
export function compareFiles(a: { readonly path: string }, b: { readonly path: string }): number {
  if (a.path === b.path) return 0
  if (a.path === 'SKILL.md' || b.path === 'SKILL.md') return a.path === 'SKILL.md' ? -1 : 1
  return a.path < b.path ? -1 : 1
}
