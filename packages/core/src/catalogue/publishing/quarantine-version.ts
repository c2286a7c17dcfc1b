import { limits, type QuarantinedVersion, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Caller } from '../../kernel/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { recordAudit } from '../../log/audit.ts'
import { compileInsert } from '../../storage/compiled-query.ts'
import { countRows } from '../../storage/count-rows.ts'
import { parseJson, type QuarantineItemRow, type Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { Inspection } from '../versions/inspection.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { Publication, Published, QuarantineReason } from './publication.ts'
import type { PackedContent } from '../versions/skill-package.ts'

/** A publication as stored in quarantine, without its content and inspection, which are stored separately. */
export type QuarantinedPublication = Omit<Publication, 'content' | 'inspection'>

interface Holding {
  readonly publication: Publication & { readonly inspection: Inspection }
  /** The result that publishing would have had: the version number, and the scan that the policy judged. */
  readonly unpublished: Published
  readonly agentId?: string | undefined
}

/**
 * Quarantines a version until an administrator releases it or reviewers approve it. The same content with the
 * same settings keeps its id, comments and reviews. With other settings, a new item with a new id replaces the earlier
 * one, because a decision names the id and must not count for settings that no reviewer read. A version
 * that waits for reviewers also replaces an earlier version of its skill that waits for them. Throws `conflict` if the
 * publisher has too many quarantined versions.
 */
export async function quarantineVersion(
  context: Pick<CatalogueContext, 'clock' | 'events' | 'policies'>,
  trx: WriteTransaction,
  { publication, unpublished, agentId }: Holding,
  caller: Caller,
): Promise<QuarantinedVersion> {
  const { content, inspection, ...rest } = publication
  const { owner, publisher, fields } = rest
  const { version } = unpublished.version
  const scan = unpublished.judged ?? inspection.scan
  const at = context.clock.now()
  const fullName = `${owner.username}/${fields.name}`
  const reason = unpublished.quarantinedFor ?? 'policy'
  const stored = JSON.stringify(rest satisfies QuarantinedPublication)
  const earlier = await findSameQuarantined(trx, fullName, content.digest)
  // Ids are in the order of submissions.
  const isLatest = earlier && (await findLaterSubmission(trx, earlier)) === undefined
  const same = isLatest && earlier.publication === stored ? earlier : undefined
  if (earlier && !same) await removeQuarantined(trx, earlier.id)
  if (reason === 'approval') await removeEarlierSubmissions(trx, fullName, same?.id)
  if (!same) await refuseTooManyQuarantined(trx, publisher)
  const row: QuarantineItemRow = {
    id: same?.id ?? newId(),
    owner_id: owner.id,
    publisher_id: publisher.id,
    full_name: fullName,
    version,
    digest: content.digest,
    scan: JSON.stringify(scan),
    change: unpublished.uses?.change ? JSON.stringify(unpublished.uses.change) : null,
    publication: stored,
    agent_id: agentId ?? null,
    created_at: same?.created_at ?? at,
    reason,
  }
  if (same) {
    await trx.updateTable('quarantine_items').set(row).where('id', '=', same.id).execute()
  } else {
    await trx.insertInto('quarantine_items').values(row).execute()
    await putQuarantineFiles(trx, row.id, content)
    const subject = `${row.full_name}@${version}`
    const data = {
      id: row.id,
      digest: row.digest,
      reason,
      verdict: scan.verdict,
      change: unpublished.uses?.change?.verdict,
    }
    await recordAudit(trx, { caller, action: 'quarantine.add', subject, at, data })
  }
  if (reason === 'approval' && same?.reason !== 'approval') await announceSubmission(context, trx, row, publisher)
  const shown = toQuarantinedVersion({ ...row, publisher: publisher.username })
  return { ...shown, ...(await context.policies.countApprovals(trx, row)) }
}

/** Notifies the reviewers of a quarantined version that it waits for their review. */
export async function announceSubmission(
  context: Pick<CatalogueContext, 'events' | 'policies'>,
  trx: WriteTransaction,
  row: QuarantineItemRow,
  publisher: Publication['publisher'],
): Promise<void> {
  const data = () => ({ ...toSubmissionData(row), publisher: { id: publisher.id, username: publisher.username } })
  const userIds = () => context.policies.findReviewers(trx, row)
  await context.events.emit(trx, { event: 'skill.submitted', userIds, data })
}

/** The data of events about a version that was submitted for review. */
export function toSubmissionData({ id, full_name: fullName, version }: QuarantineItemRow) {
  return { submission: { id, fullName, version } }
}

/** Deletes the versions of a skill that wait for reviewers, except the version with the id `keptId`. */
export async function removeEarlierSubmissions(
  trx: WriteTransaction,
  fullName: string,
  keptId: string | undefined,
): Promise<void> {
  await trx
    .deleteFrom('quarantine_items')
    .where('full_name', '=', fullName)
    .where('reason', '=', 'approval')
    .$if(keptId !== undefined, (query) => query.where('id', '!=', keptId!))
    .execute()
}

/** The number of a version of the same skill that waits for reviewers and was submitted later than `row`. */
export function findLaterSubmission(trx: WriteTransaction, row: Pick<QuarantineItemRow, 'id' | 'full_name'>) {
  return trx
    .selectFrom('quarantine_items')
    .select('version')
    .where('full_name', '=', row.full_name)
    .where('reason', '=', 'approval')
    .where('id', '>', row.id)
    .executeTakeFirst()
}

function findSameQuarantined(trx: WriteTransaction, fullName: string, digest: string) {
  return trx
    .selectFrom('quarantine_items')
    .select(['id', 'full_name', 'created_at', 'publication', 'reason'])
    .where('full_name', '=', fullName)
    .where('digest', '=', digest)
    .executeTakeFirst()
}

/** Stores who decides next on a quarantined version, and the publication with the reasons decided so far. */
export async function passItemOn(
  trx: WriteTransaction,
  row: QuarantineItemRow,
  { reason, publication }: { reason: QuarantineReason; publication: QuarantinedPublication },
): Promise<QuarantineItemRow> {
  const columns = { reason, publication: JSON.stringify(publication) }
  await trx.updateTable('quarantine_items').set(columns).where('id', '=', row.id).execute()
  return { ...row, ...columns }
}

/** Stores the verdict of a reviewer, in place of an earlier verdict of this reviewer. */
export async function putVerdict(trx: WriteTransaction, review: Tables['submission_reviews']): Promise<void> {
  const { verdict, at } = review
  await trx
    .insertInto('submission_reviews')
    .values(review)
    .onConflict((conflict) => conflict.columns(['quarantine_id', 'user_id']).doUpdateSet({ verdict, at }))
    .execute()
}

/** Deletes a quarantined version with its files, after a decision. */
export async function removeQuarantined(trx: WriteTransaction, id: string): Promise<void> {
  await trx.deleteFrom('quarantine_items').where('id', '=', id).execute()
}

async function refuseTooManyQuarantined(trx: WriteTransaction, { id, username }: Publication['publisher']) {
  const count = await countRows(trx.selectFrom('quarantine_items').where('publisher_id', '=', id))
  if (count < limits.quarantinedPerUserMax) return
  throw new RegistryError(
    'conflict',
    `${limits.quarantinedPerUserMax} versions of ${username} are already quarantined. Withdraw one, or wait until one is decided.`,
  )
}

async function putQuarantineFiles(
  trx: WriteTransaction,
  quarantineId: string,
  { files, blobs }: PackedContent,
): Promise<void> {
  const rows = files.map(({ path, executable }, i) => {
    return { quarantine_id: quarantineId, path, executable: Number(executable ?? 0), ...blobs[i]! }
  })
  await insertQuarantineFiles(trx, ...rows)
}

const insertQuarantineFiles = compileInsert('quarantine_files')

/** The public form of a quarantined version; `publisher` is the publisher's username. */
export function toQuarantinedVersion(row: QuarantineItemRow & { publisher: string }): QuarantinedVersion {
  return {
    id: row.id,
    fullName: row.full_name,
    version: row.version,
    digest: row.digest,
    publisher: { id: row.publisher_id, username: row.publisher },
    security: parseJson(row.scan),
    change: row.change === null ? null : parseJson(row.change),
    createdAt: toTimestamp(row.created_at),
    published: false,
    reason: row.reason,
  }
}
