import { type QuarantinedVersion, RegistryError, compareFiles, limits, toTimestamp } from '@skillstead/protocol'
import {
  announceSubmission,
  findLaterSubmission,
  passItemOn,
  removeEarlierSubmissions,
  type QuarantinedPublication,
  removeQuarantined,
  toQuarantinedVersion,
  putVerdict,
  toSubmissionData,
} from '../catalogue/publishing/quarantine-version.ts'
import { readMetadataRequires } from '../catalogue/versions/stored-requires.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { attributeTo } from '../community/agent-actions.ts'
import type { Operation, Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import { type Caller, type UserCaller, requireAccount } from '../kernel/caller.ts'
import { inspectStored } from '../catalogue/inspecting/inspect-packages.ts'
import type { QuarantineReason } from '../catalogue/publishing/publication.ts'
import { publishVersion } from '../catalogue/publishing/publish-version.ts'
import { readPublished, type Stored, toPublishAnswer } from '../catalogue/publishing/publish-answer.ts'
import { checkPackage, type PackedContent } from '../catalogue/versions/skill-package.ts'
import { toFileRow } from '../catalogue/versions/stored-version.ts'
import { requirePublisher } from '../catalogue/publishing/publish-skill.ts'
import { type QuarantineItemRow, type VersionRow, type Tables, parseJson } from '../storage/tables.ts'
import { undo, type WriteTransaction } from '../storage/writer.ts'
import { getQuarantined, countApprovals, readItemFiles } from './quarantine.ts'
import type { Kysely } from 'kysely'
import { diffFiles } from '../catalogue/skills/diff-skill.ts'
import { readFileRows } from '../catalogue/versions/version-files.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import { countRows } from '../storage/count-rows.ts'
import { keepSeen } from '../visibility/decisions.ts'

/**
 * POST /quarantine/<id>/release, for administrators: publishes the version, or lets it wait for reviewers if the policy
 * requires approvals. Throws like a publish: `version_exists`, `name_taken`, `taken_down`, or `forbidden` if the
 * publisher has lost the role. After an error, the version stays in quarantine.
 */
export const releaseQuarantined: Operation<'releaseQuarantined', CatalogueContext> = async (context, input, caller) => {
  const { id } = input
  const { row } = await getQuarantined(context.database.read, id, caller)
  const { stored, quarantined } = await decideItem(context, row, caller, {
    reason: 'policy',
    async decide(trx) {
      const { row: now } = await getQuarantined(trx, id, caller)
      if (now.reason === 'approval')
        throw new RegistryError(
          'conflict',
          `${now.full_name}@${now.version} needs the approval of its reviewers. Only they can publish it.`,
        )
      return { row: now, isAccepted: true }
    },
  })
  const answer = await toPublishAnswer(context, stored!, caller)
  if (quarantined) return { status: 200, body: { ...answer, created: false, quarantined } }
  return { status: answer.created ? 201 : 200, body: answer }
}

/** A decision on a quarantined version. */
interface Decision {
  readonly reason: QuarantineReason
  /** Stores the decision; returns the current row, and whether the version may be published now. */
  decide(trx: WriteTransaction): Promise<{ row: QuarantineItemRow; isAccepted: boolean }>
}

/**
 * The stored publication of a quarantined version. Older software stored no `requires` in the fields; `requires` is
 * then read from the metadata.
 */
function readPublication({ publication }: QuarantineItemRow): QuarantinedPublication {
  const stored = parseJson<QuarantinedPublication>(publication)
  const { fields } = stored
  const { requires = readMetadataRequires(fields.metadata) }: Partial<typeof fields> = fields
  return { ...stored, fields: { ...fields, requires } }
}

/**
 * Publishes a quarantined version in the transaction of the decision that accepts it. A version that then needs another
 * decision stays in quarantine for that reason, and is returned as `quarantined`.
 */
async function decideItem(
  context: CatalogueContext,
  { id, digest }: Pick<QuarantineItemRow, 'id' | 'digest'>,
  caller: Caller,
  { reason, decide }: Decision,
): Promise<{ row: QuarantineItemRow; stored?: Stored; quarantined?: QuarantinedVersion }> {
  const content = await readItemContent(context, id, digest)
  // Older software may have stored this version with paths that are refused now.
  checkPackage({ skillMd: '', files: content.sources.filter(({ path }) => path !== 'SKILL.md') })
  const inspection = await inspectStored(context, content)
  const decided = await context.database.writer.write(async (trx) => {
    const { row, isAccepted } = await decide(trx)
    if (!isAccepted) return { row }
    const publication = readPublication(row)
    await requireAllowedPublisher(trx, publication)
    const released = [...(publication.released ?? []), reason]
    const published = await publishVersion(context, trx, { ...publication, content, inspection, released }, caller)
    const { quarantinedFor } = published
    const stored = await readPublished(trx, published)
    if (quarantinedFor) {
      undo(trx)
      return { row, stored, waits: { quarantinedFor, publication: { ...publication, released } } }
    }
    if (published.created) await creditStoredAgent(trx, row, published.version)
    await removeQuarantined(trx, id)
    const { skill, version } = published
    await recordAudit(trx, {
      caller,
      action: reason === 'policy' ? 'quarantine.release' : 'quarantine.approve',
      subject: `${skill.full_name}@${version.version}`,
      at: context.clock.now(),
      data: { id, digest },
    })
    return { row, stored }
  })
  const { waits } = decided
  if (!waits) return decided
  // The first transaction was rolled back, and the decision with it, so the decision is stored again.
  const quarantined = await context.database.writer.write(async (trx) => {
    const { row, isAccepted } = await decide(trx)
    // Between the transactions, another reviewer may have requested changes, or the author published other settings.
    if (!isAccepted || row.publication !== decided.row.publication)
      throw new RegistryError(
        'conflict',
        `${row.full_name}@${row.version} has just changed. Read it again, then decide.`,
      )
    const { quarantinedFor: reasonNow, publication } = waits
    const { publisher } = publication
    if (reasonNow === 'approval') await replaceEarlierSubmissions(trx, row)
    const moved = await passItemOn(trx, row, { reason: reasonNow, publication })
    if (reasonNow === 'approval') await announceSubmission(context, trx, moved, publisher)
    await recordAudit(trx, {
      caller,
      action: 'quarantine.pass-on',
      subject: `${row.full_name}@${row.version}`,
      at: context.clock.now(),
      data: { id, digest, reason: reasonNow },
    })
    const shown = toQuarantinedVersion({ ...moved, publisher: publisher.username })
    return { ...shown, ...(await countApprovals(trx, moved)) }
  })
  return { ...decided, quarantined }
}

/**
 * Removes the earlier submissions of a skill: only the version that was submitted last waits for reviewers. Throws
 * `conflict` if a later version was submitted.
 */
async function replaceEarlierSubmissions(trx: WriteTransaction, row: QuarantineItemRow): Promise<void> {
  const later = await findLaterSubmission(trx, row)
  if (later)
    throw new RegistryError(
      'conflict',
      `${row.full_name}@${later.version} was submitted later and waits for its reviewers, so this version cannot be released. Delete it.`,
    )
  await removeEarlierSubmissions(trx, row.full_name, row.id)
}

async function readItemContent(context: StorageContext, quarantineId: string, digest: string): Promise<PackedContent> {
  const rows = await context.database.read
    .selectFrom('quarantine_files')
    .selectAll()
    .where('quarantine_id', '=', quarantineId)
    .execute()
  const blobs = rows.toSorted(compareFiles)
  const sources = []
  for (const blob of blobs)
    sources.push({ path: blob.path, bytes: await unpackBlob(blob), executable: blob.executable === 1 })
  return {
    digest,
    size: blobs.reduce((sum, { size }) => sum + size, 0),
    files: blobs.map(toFileRow),
    blobs: blobs.map(({ digest: of, size, encoding, bytes }) => ({ digest: of, size, encoding, bytes })),
    sources,
  }
}

/** Credits the agent that published the version, unless the agent was deleted. */
async function creditStoredAgent(trx: WriteTransaction, row: QuarantineItemRow, version: VersionRow): Promise<void> {
  if (row.agent_id === null) return
  const agent = await trx.selectFrom('agents').selectAll().where('id', '=', row.agent_id).executeTakeFirst()
  if (agent) await attributeTo(trx, agent, version, row.publisher_id)
}

/** Throws if the publisher of a quarantined version is no longer allowed to publish the skill. */
async function requireAllowedPublisher(trx: WriteTransaction, publication: QuarantinedPublication): Promise<void> {
  const { publisher } = publication
  const user = await trx.selectFrom('users').selectAll().where('id', '=', publisher.id).executeTakeFirstOrThrow()
  if (user.disabled)
    throw new RegistryError('conflict', `${user.username} is disabled, so their version cannot be published.`)
  const { id: userId, username, plan, role } = user
  const caller: UserCaller = { kind: 'user', userId, username, plan, role, scopes: [] }
  await requirePublisher(trx, publication, caller)
}

/**
 * PUT /quarantine/<id>/review: stores the verdict of a reviewer, in place of an earlier verdict of this reviewer. The
 * last approval publishes the version in the same transaction, unless a reviewer requests changes. Users cannot review
 * versions that they submitted.
 */
export const reviewQuarantined: Operation<'reviewQuarantined', CatalogueContext> = async (context, input, caller) => {
  const { id, verdict } = input
  const { read, writer } = context.database
  const { row } = await getQuarantined(read, id, caller)
  const decide = (trx: WriteTransaction) => putReview(context, trx, { id, verdict }, caller)
  const decided: Awaited<ReturnType<typeof decideItem>> =
    verdict === 'approved'
      ? await decideItem(context, row, caller, { reason: 'approval', decide })
      : await writer.write(decide)
  const { publisher } = parseJson<QuarantinedPublication>(decided.row.publication)
  const { quarantined, stored } = decided
  const shown = quarantined ?? toQuarantinedVersion({ ...decided.row, publisher: publisher.username })
  if (stored && !quarantined) return { status: 201, body: { ...shown, version: stored.version.version, created: true } }
  return { status: 200, body: { ...shown, ...(await countApprovals(read, decided.row)), created: false } }
}

async function putReview(
  context: CatalogueContext,
  trx: WriteTransaction,
  { id, verdict }: Input<'reviewQuarantined'>,
  caller: Caller,
) {
  const { userId, username } = requireAccount(caller)
  const { row, mayReview } = await getQuarantined(trx, id, caller)
  if (!mayReview) throw toReviewRefusal(row, userId)
  const at = context.clock.now()
  await putVerdict(trx, { quarantine_id: id, user_id: userId, verdict, at })
  const { needed, given, changesRequested } = (await countApprovals(trx, row))!.approvals
  const isAccepted = !changesRequested && given >= needed
  const subject = `${row.full_name}@${row.version}`
  const data = { id, digest: row.digest, verdict }
  await recordAudit(trx, { caller, action: 'quarantine.review', subject, at, data })
  await context.events.emit(trx, {
    event: 'skill.reviewed',
    ownerId: row.publisher_id,
    data: () => ({ ...toSubmissionData(row), reviewer: { id: userId, username }, verdict, published: isAccepted }),
  })
  return { row, isAccepted }
}

function toReviewRefusal(row: QuarantineItemRow, userId: string): RegistryError {
  if (row.reason === 'policy')
    return new RegistryError('conflict', 'An administrator of the node must release this version before its review.')
  return new RegistryError(
    'forbidden',
    row.publisher_id === userId
      ? 'You submitted this version. Another reviewer must approve it.'
      : 'You are not among the reviewers of this version.',
  )
}

/** POST /quarantine/<id>/comments: adds a comment, for callers who may see the quarantined version. */
export const commentQuarantined: Operation<'commentQuarantined', StorageContext> = async (context, input, caller) => {
  const { id, body, path, line } = input
  const { userId } = requireAccount(caller)
  if (line !== undefined && path === undefined) throw invalidField('line', 'needs the path of a file')
  const { read, writer } = context.database
  await getQuarantined(read, id, caller)
  if (path !== undefined) await requirePlace(read, { id, path, line })
  return writer.write(async (trx) => {
    const { row } = await getQuarantined(trx, id, caller)
    const max = limits.reviewCommentsMax
    if ((await countRows(trx.selectFrom('submission_comments').where('quarantine_id', '=', id))) >= max)
      throw new RegistryError('conflict', `This version has ${max} comments, the maximum.`)
    const at = context.clock.now()
    const comment = {
      id: newId(),
      quarantine_id: id,
      user_id: userId,
      path: path ?? null,
      line: line ?? null,
      body,
      created_at: at,
    }
    await trx.insertInto('submission_comments').values(comment).execute()
    const subject = `${row.full_name}@${row.version}`
    await recordAudit(trx, { caller, action: 'quarantine.comment', subject, at, data: { id, path, line } })
    return { id: comment.id, createdAt: toTimestamp(at) }
  })
}

/** Throws `invalid_request` for a file or line that a version lacks. Files of a quarantined version never change. */
async function requirePlace(
  db: Kysely<Tables>,
  { id, path, line }: { readonly id: string; readonly path: string; readonly line: number | undefined },
): Promise<void> {
  const file = await db
    .selectFrom('quarantine_files')
    .selectAll()
    .where('quarantine_id', '=', id)
    .where('path', '=', path)
    .executeTakeFirst()
  if (!file) throw invalidField('path', 'is no file of this version')
  if (line === undefined) return
  const lines = countLines(await unpackBlob(file))
  if (line > lines) throw invalidField('line', `is beyond the end of ${path}, which has ${lines} lines`)
}

/** The number of lines. The last line may lack a line break. */
function countLines(bytes: Uint8Array): number {
  let breaks = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) breaks += 1
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? breaks : breaks + 1
}

/**
 * GET /quarantine/<id>/diff: how the version differs from the latest published version; `since` is null if the caller
 * sees no published version.
 */
export const diffQuarantined: Operation<'diffQuarantined', StorageContext> = async (context, { id }, caller) => {
  const { read } = context.database
  const { row } = await getQuarantined(read, id, caller)
  const published = await read
    .selectFrom('skills')
    .innerJoin('versions', (join) =>
      join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
    )
    .select(['skills.id', 'skills.owner_id', 'skills.full_name', 'skills.visibility', 'skills.state'])
    .select(['versions.id as versionId', 'versions.version'])
    .where('skills.full_name', '=', row.full_name)
    .execute()
  // Authors who have left the organisation still see their own version, but not what was published since.
  const [latest] = await keepSeen(context, published, caller)
  const before = latest ? (await readFileRows(read, latest.versionId)).toSorted(compareFiles) : []
  const files = await diffFiles(context, before, await readItemFiles(read, id), async (digest) => {
    const blob = await read
      .selectFrom('quarantine_files')
      .selectAll()
      .where('quarantine_id', '=', id)
      .where('digest', '=', digest)
      .executeTakeFirstOrThrow()
    return unpackBlob(blob)
  })
  return { since: latest?.version ?? null, files }
}
