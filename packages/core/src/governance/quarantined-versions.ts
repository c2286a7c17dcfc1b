import type { QuarantinedVersion, Security } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { requireUser, type Caller } from '../kernel/caller.ts'
import { toTimestamp } from '@skillstead/protocol'
import { isAdministrator } from '../catalogue/visibility.ts'
import type { Tables } from '../storage/tables.ts'

/** The stored versions that a rescan quarantined, of one owner or all. Versions of deleted skills are left out. */
export function selectQuarantined(db: Kysely<Tables>, ownerId?: string) {
  return db
    .selectFrom('quarantined_versions')
    .innerJoin('versions', 'versions.id', 'quarantined_versions.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .where('skills.state', 'in', ['live', 'hidden'])
    .$if(ownerId !== undefined, (select) => select.where('skills.owner_id', '=', ownerId!))
}

/** The public forms of quarantined stored versions, by version id. */
export async function readQuarantined(db: Kysely<Tables>, ids: readonly string[]): Promise<QuarantinedVersion[]> {
  if (ids.length === 0) return []
  const rows = await selectQuarantined(db)
    .innerJoin('scans', 'scans.version_id', 'versions.id')
    .select(['versions.id', 'versions.version', 'versions.digest', 'versions.publisher_id', 'versions.publisher'])
    .select(['skills.full_name', 'scans.report', 'quarantined_versions.quarantined_at'])
    .where('versions.id', 'in', ids)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    fullName: row.full_name,
    version: row.version,
    digest: row.digest,
    publisher: { id: row.publisher_id, username: row.publisher },
    security: JSON.parse(row.report) as Security,
    createdAt: toTimestamp(row.quarantined_at),
    published: true,
  }))
}

/** Whether the caller may read and decide on other users' quarantined versions. */
export function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}
