import { compareFiles, limits, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import {
  putVerdict,
  type QuarantinedPublication,
  toQuarantinedVersion,
  toSubmissionData,
} from '../catalogue/publishing/quarantine-version.ts'
import { diffFiles } from '../catalogue/skills/diff-skill.ts'
import { readFileRows } from '../catalogue/versions/version-files.ts'
import { type Caller, requireAccount } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import { countRows } from '../storage/count-rows.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { QuarantineItemRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { keepSeen } from '../visibility/decisions.ts'
import { getQuarantined, readItemFiles, countApprovals } from './quarantine.ts'
import { decideItem } from './quarantine-release.ts'

/**
 * PUT /quarantine/<id>/review: stores the verdict of a reviewer in place of an earlier one. The last approval publishes
 * the version in the same transaction, unless a reviewer requests changes. No one reviews an own version.
 */
export const reviewQuarantined: Operation<'reviewQuarantined', CatalogueContext> = async (
  context,
  { id, verdict },
  caller,
) => {
  const { read, writer } = context.database
  const { row } = await getQuarantined(read, id, caller)
  const decide = (trx: WriteTransaction) => putReview(context, trx, { id, verdict }, caller)
  const decided: Awaited<ReturnType<typeof decideItem>> =
    verdict === 'approved'
      ? await decideItem(context, row, caller, { reason: 'approval', decide })
      : await writer.write(decide)
  const { publisher } = JSON.parse(decided.row.publication) as QuarantinedPublication
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
    return new RegistryError('conflict', 'This version waits for an administrator of the node.')
  return new RegistryError(
    'forbidden',
    row.publisher_id === userId
      ? 'You submitted this version. Another reviewer must approve it.'
      : 'You are not among the reviewers of this version.',
  )
}

/** POST /quarantine/<id>/comments: by those who see a version that waits for reviewers. */
export const commentQuarantined: Operation<'commentQuarantined', StorageContext> = async (
  context,
  { id, body, path, line },
  caller,
) => {
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

/** Throws `invalid_request` for a file or a line that a version lacks. The files of a quarantined version never change. */
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

/** The last line may lack its line break. */
function countLines(bytes: Uint8Array): number {
  let breaks = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) breaks += 1
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? breaks : breaks + 1
}

/**
 * GET /quarantine/<id>/diff: how the version differs from the latest published one; `since` is null if there is none that
 * the caller sees.
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
  // An author who has left the organisation still sees the own version, but not what was published since.
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
