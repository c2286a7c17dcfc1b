import {
  compareFiles,
  type QuarantinedVersion,
  RegistryError,
  toTimestamp,
  type Policy,
  rightsByRole,
} from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { removeQuarantined, toQuarantinedVersion } from '../catalogue/publishing/quarantine-version.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import { type Caller, requireScope, requireUser } from '../kernel/caller.ts'
import { toFileRow } from '../catalogue/versions/stored-version.ts'
import { readFileRows, toContentType } from '../catalogue/versions/version-files.ts'
import { isAdministrator, selectOrganisationsWith, findRoles, findUsersWith, isOwner } from '../visibility/rights.ts'
import { type Tables, parseJson, type QuarantineItemRow } from '../storage/tables.ts'
import { reportUnscanned } from '@skillstead/scanner'
import { readPage } from '../storage/read-page.ts'
import { isItemSeenBy, mayDecide } from '../visibility/quarantine-conditions.ts'
import { readEffectivePolicy } from './policies.ts'
import { findMemberRole } from '../accounts/organisations.ts'

/**
 * GET /quarantine/<id>: a quarantined version, for its author and users who may decide on it. Throws `not_found` for
 * other callers.
 */
export const showQuarantined: Operation<'getQuarantined', StorageContext> = async (context, { id }, caller) => {
  const { read } = context.database
  const stored = await findRescanned(read, id, caller)
  if (stored) return { ...stored, files: await readFileRows(read, id), reviews: [], comments: [], mayReview: false }
  const { row, mayReview } = await getQuarantined(read, id, caller)
  const decision = (await readDecisions(read, [row])).get(id)
  const { username } = await read
    .selectFrom('users')
    .select('username')
    .where('id', '=', row.publisher_id)
    .executeTakeFirstOrThrow()
  return {
    ...toQuarantinedVersion({ ...row, publisher: username }),
    ...decision?.counted,
    files: await readItemFiles(read, id),
    reviews: (decision?.reviews ?? []).map(({ username: reviewer, verdict, at }) => ({
      username: reviewer,
      verdict,
      at: toTimestamp(at),
    })),
    comments: await readComments(read, id),
    mayReview,
  }
}

/** The files of a quarantined version, sorted. */
export async function readItemFiles(db: Kysely<Tables>, id: string) {
  const files = await db
    .selectFrom('quarantine_files')
    .select(['path', 'size', 'digest', 'executable'])
    .where('quarantine_id', '=', id)
    .execute()
  return files.map(toFileRow).toSorted(compareFiles)
}

async function readComments(db: Kysely<Tables>, id: string) {
  const rows = await db
    .selectFrom('submission_comments as c')
    .innerJoin('users', 'users.id', 'c.user_id')
    .select(['c.id', 'users.username', 'c.path', 'c.line', 'c.body', 'c.created_at as createdAt'])
    .where('c.quarantine_id', '=', id)
    .orderBy('c.id')
    .execute()
  return rows.map((row) => ({ ...row, createdAt: toTimestamp(row.createdAt) }))
}

/** GET /quarantine/<id>/files/<path>: the bytes of a file of a quarantined version. */
export const readQuarantinedFile: Operation<'getQuarantinedFile', StorageContext> = async (context, input, caller) => {
  const { id, path } = input
  await getQuarantined(context.database.read, id, caller)
  const file = await context.database.read
    .selectFrom('quarantine_files')
    .selectAll()
    .where('quarantine_id', '=', id)
    .where('path', '=', path)
    .executeTakeFirst()
  if (!file) throw new RegistryError('not_found', 'The quarantined version has no file with this path.')
  return {
    contentType: toContentType(path),
    body: await unpackBlob(file),
    etag: `"${file.digest}"`,
    filename: path.slice(path.lastIndexOf('/') + 1),
  }
}

/** DELETE /quarantine/<id>: the author withdraws the version, or another user who may decide refuses it with a note. */
export const deleteQuarantined: Operation<'deleteQuarantined', StorageContext> = async (context, input, caller) => {
  const { id, note } = input
  await context.database.writer.write(async (trx) => {
    const { row, isAuthor, mayReview } = await getQuarantined(trx, id, caller)
    const mayRefuse = row.reason === 'approval' ? mayReview : isAdministrator(caller)
    if (isAuthor) requireScope(requireUser(caller), 'publish')
    else if (!mayRefuse)
      throw new RegistryError('forbidden', 'Only the author of this version and those who review it may delete it.')
    await removeQuarantined(trx, id)
    await recordAudit(trx, {
      caller,
      action: isAuthor ? 'quarantine.withdraw' : 'quarantine.refuse',
      subject: `${row.full_name}@${row.version}`,
      at: context.clock.now(),
      data: { id, digest: row.digest, note },
    })
  })
  return undefined
}

/** As {@link getQuarantineItem}, but throws `conflict` for a published version that a rescan quarantined. */
export async function getQuarantined(db: Kysely<Tables>, id: string, caller: Caller): Promise<SeenItem> {
  if (await findRescanned(db, id, caller)) {
    throw new RegistryError(
      'conflict',
      'A rescan quarantined this version after its publication. It can be neither released nor withdrawn.',
    )
  }
  return getQuarantineItem(db, id, caller)
}

/** A published version that a rescan quarantined; undefined if there is none with this id that the caller may see. */
async function findRescanned(db: Kysely<Tables>, id: string, caller: Caller): Promise<QuarantinedVersion | undefined> {
  const found = await selectRescanned(db, caller).select('versions.id').where('versions.id', '=', id).executeTakeFirst()
  return found && (await readQuarantined(db, [id]))[0]
}

/**
 * GET /quarantine, oldest first: versions that wait for an administrator or for reviewers, and published versions that
 * a rescan quarantined. Callers see their own versions and versions on which they may decide. With `own`,
 * administrators do not see versions on which only administrators decide.
 */
export const listQuarantined: Operation<'listQuarantined', StorageContext> = async (context, input, caller) => {
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
 * For versions that wait for reviewers, by id: the latest verdicts of the users who may still review the version, and
 * the numbers of approvals.
 */
async function readDecisions(db: Kysely<Tables>, items: readonly QuarantineItemRow[]) {
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

/** The approvals that a version needs and has; undefined for a version that does not wait for reviewers. */
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

/**
 * The versions of {@link selectQuarantined} that a caller sees: all for administrators with the scope `manage`; for
 * other callers, the versions of their own skills, and of skills of organisations in which they may review.
 */
function selectRescanned(db: Kysely<Tables>, caller: Caller) {
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

const unscanned = 'This version was not scanned.'

/** The public forms of published versions in quarantine, by version id. */
async function readQuarantined(db: Kysely<Tables>, ids: readonly string[]): Promise<QuarantinedVersion[]> {
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
    // A published version has no scan if its content is missing.
    security: row.report === null ? await reportUnscanned([], unscanned, row.quarantined_at) : parseJson(row.report),
    // The rescan quarantined the version for its content, not for what it changes.
    change: null,
    createdAt: toTimestamp(row.quarantined_at),
    published: true,
    reason: 'rescan' as const,
  }))
  return Promise.all(forms)
}

/** The rights of a caller on a quarantined version that the caller may see. */
interface ItemAccess {
  /** Whether the caller published the version, or owns the skill in person. */
  readonly isAuthor: boolean
  /** Whether the caller may review the version; users cannot review versions that they published. */
  readonly mayReview: boolean
}

/** A quarantined version with the caller's access. */
interface SeenItem extends ItemAccess {
  readonly row: QuarantineItemRow
}

/**
 * A quarantined version, for its author, users who may review the skill, and administrators unless it needs an
 * approval. Throws `not_found` for other callers, `forbidden` for an administrator's key without the scope `manage`.
 */
async function getQuarantineItem(db: Kysely<Tables>, id: string, caller: Caller): Promise<SeenItem> {
  const row = await db.selectFrom('quarantine_items').selectAll().where('id', '=', id).executeTakeFirst()
  const access = row && (await findAccess(db, row, caller))
  if (!row || !access) throw new RegistryError('not_found', 'There is no quarantined version with this id.')
  return { row, ...access }
}

async function findAccess(db: Kysely<Tables>, row: QuarantineItemRow, caller: Caller): Promise<ItemAccess | undefined> {
  const { userId } = requireUser(caller)
  const skill = await findItemSkill(db, row)
  const roles = await findRoles(db, skill, userId)
  const isReviewer = roles.some((role) => rightsByRole[role].includes('review'))
  // A collaborator who is not a member of the owning organisation does not count as the author of a version that the
  // scan policy quarantined: the owner decides on it.
  const mayWithdraw = row.reason === 'approval' || (await findMemberRole(db, row.owner_id, userId)) !== undefined
  const isAuthor = isOwner(row, caller) || (row.publisher_id === userId && mayWithdraw)
  const { reviewers } = (await readEffectivePolicy(db, row)).approvals ?? {}
  const isNamed = reviewers === undefined || (caller.kind === 'user' && reviewers.includes(caller.username))
  const mayReview = row.reason === 'approval' && isReviewer && isNamed && row.publisher_id !== userId
  if (isAuthor || isReviewer) return { isAuthor, mayReview }
  if (row.reason === 'approval' || !isAdministrator(caller)) return undefined
  requireScope(requireUser(caller), 'manage')
  return { isAuthor, mayReview }
}

/** The skill of a quarantined version; its id is empty if the skill was never published. */
async function findItemSkill(db: Kysely<Tables>, { full_name, owner_id }: QuarantineItemRow) {
  const skill = await db.selectFrom('skills').select('id').where('full_name', '=', full_name).executeTakeFirst()
  return { id: skill?.id ?? '', owner_id }
}

/** The ids of the users who may review a version. Default of `policy`: the effective policy, which is then read. */
export async function findReviewers(db: Kysely<Tables>, row: QuarantineItemRow, policy?: Policy): Promise<string[]> {
  const skill = await findItemSkill(db, row)
  const ids = (await findUsersWith(db, skill, 'review')).filter((id) => id !== row.publisher_id)
  const { reviewers } = (policy ?? (await readEffectivePolicy(db, row))).approvals ?? {}
  if (reviewers === undefined || ids.length === 0) return ids
  if (reviewers.length === 0) return []
  const named = await db.selectFrom('users').select('id').where('username', 'in', reviewers).execute()
  const allowed = new Set(named.map(({ id }) => id))
  return ids.filter((id) => allowed.has(id))
}
