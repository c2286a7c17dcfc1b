/** A file in the manifest, from which the digest of a version is computed. */
export interface ManifestFile {
  readonly path: string
  readonly size: number
  /** `sha256:` and the hash in lower-case hexadecimal. */
  readonly digest: string
}

/**
 * The text whose SHA-256 is the digest of a version: a line `<digest> <size> <path>` for each file, SKILL.md first,
 * then by path. Anyone with the files or their list can recompute it.
 */
export function toManifest(files: readonly ManifestFile[]): string {
  return files
    .toSorted(compareFiles)
    .map(({ digest, size, path }) => `${digest} ${size} ${path}\n`)
    .join('')
}

/** SKILL.md first, the others by code unit: the order of manifests, archives and lists. */
export function compareFiles(a: { readonly path: string }, b: { readonly path: string }): number {
  if (a.path === b.path) return 0
  if (a.path === 'SKILL.md' || b.path === 'SKILL.md') return a.path === 'SKILL.md' ? -1 : 1
  return a.path < b.path ? -1 : 1
}
