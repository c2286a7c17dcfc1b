import { toVersionDigest } from '@skillstead/skill-format/archives'
import { compareVersions, isVersion, nextPatch } from '@skillstead/protocol'
import type { KnownSkill, Release } from '../types.ts'

/**
 * The version number of content from a source without version numbers: the number in its frontmatter if that is higher
 * than all stored numbers, else the next patch number. Undefined if the highest stored version has the same content.
 */
export function numberRelease(
  files: Release['files'],
  written: string | undefined,
  known: KnownSkill | undefined,
): string | undefined {
  const versions = [...(known?.versions ?? [])]
  if (versions.length === 0) return written ?? '1.0.0'
  const [highest, { digest }] = versions.reduce((a, b) => (compareVersions(a[0], b[0]) < 0 ? b : a))
  if (digest === toVersionDigest(files)) return undefined
  if (written !== undefined && compareVersions(written, highest) > 0) return written
  const next = nextPatch(highest)
  // After the number 9999999999 there is no next one; the stored number makes the import of the release fail.
  return isVersion(next) ? next : highest
}
