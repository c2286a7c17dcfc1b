import { createHash } from 'node:crypto'
import type { SkillVersion } from '@skillstead/protocol'
import { toSha256 } from './shapes.ts'

/**
 * The hash by which `clawhub` recognizes a version in a folder: the hash of the sorted lines `path:sha256`. Leaves out
 * paths with a segment that begins with a dot: `clawhub` neither publishes nor installs such files.
 */
export function toFingerprint(files: SkillVersion['files']): string {
  const lines = files
    .filter(({ path }) => !path.split('/').some((segment) => segment.startsWith('.')))
    .toSorted((a, b) => a.path.localeCompare(b.path, 'en'))
    .map(({ path, digest }) => `${path}:${toSha256(digest)}`)
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
