import { type QuarantinedVersion, type Security, toTimestamp } from '@skillstead/protocol'
import { reportUnscanned } from '@skillstead/scanner'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { toQuarantinedVersion } from '../catalogue/publishing/quarantine-version.ts'
import { isAdministrator } from '../visibility/rights.ts'
import { type Caller, requireUser } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'
import { parseJson, type Tables } from '../storage/tables.ts'

/**
 * GET /quarantine, oldest first: versions that wait for an administrator, and published versions that a rescan
 * quarantined. Administrators see all of them unless they want their own; other callers see their own.
 */
export async function listQuarantined(context: StorageContext, input: Input<'listQuarantined'>, caller: Caller) {
  const { read } = context.database
  const { userId } = requireUser(caller)
  const ownerId = mayDecide(caller) && !input.own ? undefined : userId
  const waiting = read
    .selectFrom('quarantine_items')
    .$if(ownerId !== undefined, (select) => select.where('owner_id', '=', ownerId!))
  const stored = selectQuarantined(read, ownerId)
  const all = waiting
    .select(['quarantine_items.id', 'quarantine_items.created_at as at'])
    .unionAll(stored.select(['versions.id', 'quarantined_versions.quarantined_at as at']))
  const listed = read.selectFrom(all.as('listed'))
  const { rows: shown, paging } = await readPage(listed, listed.select('id').orderBy('at').orderBy('id'), input)
  const ids = shown.map(({ id }) => id)
  const rows = [...(await readQuarantineItems(read, ids)), ...(await readQuarantined(read, ids))]
  const byId = new Map(rows.map((row) => [row.id, row]))
  // A version may be released or withdrawn between these queries.
  return { quarantined: ids.flatMap((id) => byId.get(id) ?? []), ...paging }
}

async function readQuarantineItems(read: Kysely<Tables>, ids: readonly string[]): Promise<QuarantinedVersion[]> {
  if (ids.length === 0) return []
  const rows = await read
    .selectFrom('quarantine_items')
    .innerJoin('users', 'users.id', 'quarantine_items.publisher_id')
    .selectAll('quarantine_items')
    .select('users.username as publisher')
    .where('quarantine_items.id', 'in', ids)
    .execute()
  return rows.map(toQuarantinedVersion)
}

/**
 * The published versions that a rescan quarantined, of one owner or of all. Versions of deleted skills are left out.
 */
export function selectQuarantined(db: Kysely<Tables>, ownerId?: string) {
  return db
    .selectFrom('quarantined_versions')
    .innerJoin('versions', 'versions.id', 'quarantined_versions.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .where('skills.state', 'in', ['live', 'hidden'])
    .$if(ownerId !== undefined, (select) => select.where('skills.owner_id', '=', ownerId!))
}

/** The public forms of published versions in quarantine, by version id. */
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
    security: row.report === null ? await toMissingScan(row.quarantined_at) : parseJson(row.report),
    // The rescan quarantined the version for its content, not for what it changes.
    change: null,
    createdAt: toTimestamp(row.quarantined_at),
    published: true,
  }))
  return Promise.all(forms)
}

/** A published version has no scan if its content is missing. */
function toMissingScan(at: number): Promise<Security> {
  return reportUnscanned([], 'This version was not scanned.', at)
}

/** Whether the caller may read and decide on other users' quarantined versions. */
export function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}
