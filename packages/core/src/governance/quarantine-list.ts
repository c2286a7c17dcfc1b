import { type QuarantinedVersion, type Security, toTimestamp } from '@skillstead/protocol'
import { reportUnscanned } from '@skillstead/scanner'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { toQuarantinedVersion } from '../catalogue/publishing/quarantine-version.ts'
import { type Caller, requireUser } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'
import { isItemSeenBy, mayDecide } from '../visibility/quarantine-conditions.ts'
import { selectOrganisationsWith } from '../visibility/rights.ts'
import { readEffectivePolicy } from './policies.ts'
import { findReviewers } from './quarantine-access.ts'
import { parseJson, type QuarantineItemRow, type Tables } from '../storage/tables.ts'

/**
 * GET /quarantine, oldest first: versions that wait for an administrator or for reviewers, and published versions that a
 * rescan quarantined. Callers see their own and those that they decide on;
 * administrators who want their own do not see what only an administrator decides.
 */
export async function listQuarantined(context: StorageContext, input: Input<'listQuarantined'>, caller: Caller) {
  const { read } = context.database
  const viewer = input.own ? { ...requireUser(caller), role: 'user' as const } : caller
  const waiting = read.selectFrom('quarantine_items').where(isItemSeenBy(viewer))
  const stored = selectRescanned(read, viewer)
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
  const decisions = await readDecisions(read, rows)
  return rows.map((row) => ({ ...toQuarantinedVersion(row), ...decisions.get(row.id)?.counted }))
}

/**
 * By id of the versions that wait for reviewers: the latest verdicts of those who may still review, and their count.
 */
export async function readDecisions(db: Kysely<Tables>, items: readonly QuarantineItemRow[]) {
  const waiting = items.filter(({ reason }) => reason === 'approval')
  if (waiting.length === 0) return new Map<string, never>()
  const stored = await db
    .selectFrom('submission_reviews')
    .innerJoin('users', 'users.id', 'submission_reviews.user_id')
    .select(['quarantine_id', 'user_id', 'users.username', 'verdict', 'at'])
    .where(
      'quarantine_id',
      'in',
      waiting.map(({ id }) => id),
    )
    .orderBy('at')
    .orderBy('users.username')
    .execute()
  const decided = waiting.map(async (item) => {
    const all = stored.filter(({ quarantine_id }) => quarantine_id === item.id)
    const policy = await readEffectivePolicy(db, item)
    const reviewers = all.length === 0 ? [] : await findReviewers(db, item, policy)
    const reviews = all.filter(({ user_id }) => reviewers.includes(user_id))
    const given = reviews.filter(({ verdict }) => verdict === 'approved').length
    const needed = policy.approvals?.count ?? 1
    return [
      item.id,
      { reviews, counted: { approvals: { needed, given, changesRequested: given < reviews.length } } },
    ] as const
  })
  return new Map(await Promise.all(decided))
}

/** The approvals that a version needs and has; undefined for one that does not wait for reviewers. */
export async function countApprovals(db: Kysely<Tables>, item: QuarantineItemRow) {
  return (await readDecisions(db, [item])).get(item.id)?.counted
}

/** The published versions that a rescan quarantined. Versions of deleted skills are left out. */
function selectQuarantined(db: Kysely<Tables>) {
  return db
    .selectFrom('quarantined_versions')
    .innerJoin('versions', 'versions.id', 'quarantined_versions.version_id')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .where('skills.state', 'in', ['live', 'hidden'])
}

/** Those of {@link selectQuarantined} that a caller sees: of the caller, of organisations, or all. */
export function selectRescanned(db: Kysely<Tables>, caller: Caller) {
  const { userId } = requireUser(caller)
  return selectQuarantined(db).$if(!mayDecide(caller), (select) =>
    select.where((eb) =>
      eb.or([
        eb('skills.owner_id', '=', userId),
        eb('skills.owner_id', 'in', selectOrganisationsWith('review', userId)),
      ]),
    ),
  )
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
    reason: 'rescan' as const,
  }))
  return Promise.all(forms)
}

/** A published version has no scan if its content is missing. */
function toMissingScan(at: number): Promise<Security> {
  return reportUnscanned([], 'This version was not scanned.', at)
}
