import { createHash } from 'node:crypto'
import type { SkillVersion } from '@skillstead/protocol'
import { toSha256 } from './shapes.ts'

/**
 * The hash by which the program recognises a version in a folder: of the sorted lines `path:sha256`, without files in
 * paths that begin with a dot, which it does not install from or publish.
 */
export function toFingerprint(files: SkillVersion['files']): string {
  const lines = files
    .filter(({ path }) => !path.split('/').some((segment) => segment.startsWith('.')))
    .toSorted((a, b) => a.path.localeCompare(b.path, 'en'))
    .map(({ path, digest }) => `${path}:${toSha256(digest)}`)
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
