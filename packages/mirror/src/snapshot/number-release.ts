import { toDigest } from '@skillstead/skill-format/archives'
import { compareVersions, isVersion, nextPatch, toManifest } from '@skillstead/protocol'
import type { KnownSkill, Release } from '../types.ts'

/**
 * The number under which content comes in from where nobody numbers it: that of its frontmatter where it is higher than
 * what is here, else the next patch. Undefined where the highest version here has this very content.
 */
export function numberRelease(
  files: Release['files'],
  written: string | undefined,
  known: KnownSkill | undefined,
): string | undefined {
  const versions = [...(known?.versions ?? [])]
  if (versions.length === 0) return written ?? '1.0.0'
  const [highest, { digest }] = versions.reduce((a, b) => (compareVersions(a[0], b[0]) < 0 ? b : a))
  if (digest === toContentDigest(files)) return undefined
  if (written !== undefined && compareVersions(written, highest) > 0) return written
  const next = nextPatch(highest)
  // After 9999999999 there is none; the publish says so.
  return isVersion(next) ? next : highest
}

/** The digest of a version with these files. */
function toContentDigest(files: Release['files']): string {
  return toDigest(toManifest(files.map(({ path, bytes }) => ({ path, digest: toDigest(bytes), size: bytes.length }))))
}
