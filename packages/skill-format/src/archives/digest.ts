import { hash } from 'node:crypto'
import { toManifest } from '@skillstead/protocol'
import type { ArchiveFile } from './entry-options.ts'
import { isExecutable } from './executable.ts'

/** `sha256:` and the hash in lower-case hexadecimal. */
export function toDigest(bytes: Uint8Array | string): string {
  return `sha256:${hash('sha256', bytes)}`
}

/** The digest of a version with these files, SKILL.md among them. */
export function toVersionDigest(files: readonly ArchiveFile[]): string {
  const listed = files.map((file) => {
    const { path, bytes } = file
    return { path, size: bytes.length, digest: toDigest(bytes), executable: isExecutable(file) }
  })
  return toDigest(toManifest(listed))
}
