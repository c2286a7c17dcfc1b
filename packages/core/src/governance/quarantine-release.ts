import { RegistryError, compareFiles, type Reply } from '@skillstead/protocol'
import { removeQuarantined, type QuarantinedPublication } from '../catalogue/publishing/quarantine-version.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { attributeTo } from '../community/agent-actions.ts'
import type { Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import type { Caller, UserCaller } from '../kernel/caller.ts'
import { inspectPackage } from '../catalogue/inspecting/inspect-packages.ts'
import { publishVersion } from '../catalogue/publishing/publish-version.ts'
import { readPublished, toPublishAnswer, type PublishAnswer } from '../catalogue/publishing/publish-answer.ts'
import { checkPackage, type PackedContent } from '../catalogue/versions/skill-package.ts'
import { toFileRow } from '../catalogue/versions/stored-version.ts'
import { requirePublisher } from '../catalogue/publishing/publish-skill.ts'
import type { QuarantineItemRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { getQuarantined } from './quarantine.ts'

/**
 * POST /quarantine/<id>/release, for administrators: publishes the version. Throws like a publish: `version_exists`,
 * `name_taken`, `taken_down`, or `forbidden` if the publisher has lost the role. The version then stays in quarantine.
 */
export async function releaseQuarantined(
  context: CatalogueContext,
  { id }: Input<'releaseQuarantined'>,
  caller: Caller,
): Promise<Reply<PublishAnswer>> {
  const { digest } = await getQuarantined(context.database.read, id, caller)
  const content = await readItemContent(context, id, digest)
  // Older software may have stored this version with paths that are refused now.
  checkPackage({ skillMd: '', files: content.sources.filter(({ path }) => path !== 'SKILL.md') })
  const inspection = await inspectPackage(context, { content })
  const stored = await context.database.writer.write(async (trx) => {
    const row = await getQuarantined(trx, id, caller)
    const publication = JSON.parse(row.publication) as QuarantinedPublication
    await requireAllowedPublisher(trx, publication)
    const released = { ...publication, content, inspection, released: true }
    const published = await publishVersion(context, trx, released, caller)
    if (published.created) await creditStoredAgent(trx, row, published.version)
    await removeQuarantined(trx, id)
    const { skill, version } = published
    await recordAudit(trx, {
      caller,
      action: 'quarantine.release',
      subject: `${skill.full_name}@${version.version}`,
      at: context.clock.now(),
      data: { id, digest },
    })
    return readPublished(trx, published)
  })
  return { status: stored.created ? 201 : 200, body: await toPublishAnswer(context, stored, caller) }
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
