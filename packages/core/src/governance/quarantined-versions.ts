import type { QuarantinedVersion, Security } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { requireUser, type Caller } from '../kernel/caller.ts'
import { toTimestamp } from '@skillstead/protocol'
import { isAdministrator } from '../catalogue/visibility.ts'
import { reportUnscanned } from '@skillstead/scanner'
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
    .leftJoin('scans', 'scans.version_id', 'versions.id')
    .select(['versions.id', 'versions.version', 'versions.digest', 'versions.publisher_id', 'versions.publisher'])
    .select(['skills.full_name', 'scans.report', 'quarantined_versions.quarantined_at'])
    .where('versions.id', 'in', ids)
    .execute()
  const forms = rows.map(async (row) => ({
    id: row.id,
    fullName: row.full_name,
    version: row.version,
    digest: row.digest,
    publisher: { id: row.publisher_id, username: row.publisher },
    security: row.report === null ? await toUnscanned(row.quarantined_at) : (JSON.parse(row.report) as Security),
    createdAt: toTimestamp(row.quarantined_at),
    published: true,
  }))
  return Promise.all(forms)
}

/** Its content may be lost. */
function toUnscanned(at: number): Promise<Security> {
  return reportUnscanned([], 'This version was not scanned.', at)
}

/** Whether the caller may read and decide on other users' quarantined versions. */
export function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}
