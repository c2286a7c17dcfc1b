import { type QuarantinedVersion, RegistryError, compareFiles } from '@skillstead/protocol'
import {
  announceSubmission,
  findLaterSubmission,
  passItemOn,
  removeEarlierSubmissions,
  type QuarantinedPublication,
  removeQuarantined,
  toQuarantinedVersion,
} from '../catalogue/publishing/quarantine-version.ts'
import { readMetadataRequires } from '../catalogue/versions/stored-requires.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { attributeTo } from '../community/agent-actions.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import type { Caller, UserCaller } from '../kernel/caller.ts'
import { inspectPackage } from '../catalogue/inspecting/inspect-packages.ts'
import type { QuarantineReason } from '../catalogue/publishing/publication.ts'
import { publishVersion } from '../catalogue/publishing/publish-version.ts'
import { readPublished, type Stored, toPublishAnswer } from '../catalogue/publishing/publish-answer.ts'
import { checkPackage, type PackedContent } from '../catalogue/versions/skill-package.ts'
import { toFileRow } from '../catalogue/versions/stored-version.ts'
import { requirePublisher } from '../catalogue/publishing/publish-skill.ts'
import type { QuarantineItemRow, VersionRow } from '../storage/tables.ts'
import { undo, type WriteTransaction } from '../storage/writer.ts'
import { getQuarantined, countApprovals } from './quarantine.ts'

/**
 * POST /quarantine/<id>/release, for administrators: publishes the version, or lets it wait for its reviewers, if it
 * needs any. Throws like a publish: `version_exists`, `name_taken`, `taken_down`, or `forbidden` if the publisher has
 * lost the role. The version then stays in quarantine.
 */
export const releaseQuarantined: Operation<'releaseQuarantined', CatalogueContext> = async (
  context,
  { id },
  caller,
) => {
  const { row } = await getQuarantined(context.database.read, id, caller)
  const { stored, quarantined } = await decideItem(context, row, caller, {
    reason: 'policy',
    async decide(trx) {
      const { row: now } = await getQuarantined(trx, id, caller)
      if (now.reason === 'approval')
        throw new RegistryError('conflict', `${now.full_name}@${now.version} waits for its reviewers.`)
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

/** Versions that waited before requirements were read have none in their fields. */
function readPublication({ publication }: QuarantineItemRow): QuarantinedPublication {
  const stored = JSON.parse(publication) as QuarantinedPublication
  const { fields } = stored
  const { requires = readMetadataRequires(fields.metadata) } = fields as Partial<typeof fields>
  return { ...stored, fields: { ...fields, requires } }
}

/**
 * Publishes a quarantined version in the transaction of the decision that accepts it. A version that then has to wait
 * for someone else stays in quarantine for that reason, and is returned as `quarantined`.
 */
export async function decideItem(
  context: CatalogueContext,
  { id, digest }: Pick<QuarantineItemRow, 'id' | 'digest'>,
  caller: Caller,
  { reason, decide }: Decision,
): Promise<{ row: QuarantineItemRow; stored?: Stored; quarantined?: QuarantinedVersion }> {
  const content = await readItemContent(context, id, digest)
  // Older software may have stored this version with paths that are refused now.
  checkPackage({ skillMd: '', files: content.sources.filter(({ path }) => path !== 'SKILL.md') })
  const inspection = await inspectPackage(context, { content })
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
  // The first transaction was rolled back with the decision.
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

/** Of one skill, only the version that was submitted last waits for reviewers. Throws `conflict` for an earlier one. */
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

/** The publisher must still be allowed to publish the skill. */
async function requireAllowedPublisher(trx: WriteTransaction, publication: QuarantinedPublication): Promise<void> {
  const { publisher } = publication
  const user = await trx.selectFrom('users').selectAll().where('id', '=', publisher.id).executeTakeFirstOrThrow()
  if (user.disabled)
    throw new RegistryError('conflict', `${user.username} is disabled, so their version cannot be published.`)
  const { id: userId, username, plan, role } = user
  const caller: UserCaller = { kind: 'user', userId, username, plan, role, scopes: [] }
  await requirePublisher(trx, publication, caller)
}
