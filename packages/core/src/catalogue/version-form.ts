import { type Security, type SkillVersion, toTimestamp } from '@skillstead/protocol'
import type { ShownAccess } from './stored-access.ts'
import type { VersionRow } from '../storage/tables.ts'
import type { FileRow } from './version-files.ts'

/** The public form of a version. */
export function toVersion(
  row: VersionRow,
  files: readonly FileRow[],
  security: Security | null,
  { access, widens }: ShownAccess,
): SkillVersion {
  return {
    version: row.version,
    publishedAt: toTimestamp(row.published_at),
    digest: row.digest,
    changelog: row.changelog,
    yanked: row.yanked === 1,
    size: row.size,
    files: files.map(({ path, size, digest }) => ({ path, size, digest })),
    portable: row.portable === 1,
    security,
    access,
    widens,
    publisher: { id: row.publisher_id, username: row.publisher },
  }
}
