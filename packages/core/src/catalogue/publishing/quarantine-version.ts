import { limits, type QuarantinedVersion, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { recordAudit } from '../../log/audit.ts'
import { countRows } from '../../storage/count-rows.ts'
import { parseJson, type QuarantineItemRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { Inspection } from '../versions/inspection.ts'
import type { Publication, Published } from './publication.ts'
import type { PackedContent } from '../versions/skill-package.ts'

/** A publication as stored in quarantine, without its content and inspection, which are stored separately. */
export type QuarantinedPublication = Omit<Publication, 'content' | 'inspection' | 'released'>

interface Holding {
  readonly publication: Publication & { readonly inspection: Inspection }
  /** The result that publishing would have had: the version number, and the scan that the policy judged. */
  readonly unpublished: Published
  readonly agentId?: string | undefined
}

/**
 * Quarantines a version until an administrator releases it. Publishing the same content again replaces the earlier
 * request. Throws `conflict` if the owner has too many quarantined versions.
 */
export async function quarantineVersion(
  context: StorageContext,
  trx: WriteTransaction,
  { publication, unpublished, agentId }: Holding,
  caller: Caller,
): Promise<QuarantinedVersion> {
  const { content, inspection, released: _, ...rest } = publication
  const { owner, publisher, fields } = rest
  const { version } = unpublished.version
  const scan = unpublished.judged ?? inspection.scan
  const at = context.clock.now()
  const same = await findSameQuarantined(trx, `${owner.username}/${fields.name}`, content.digest)
  if (!same) await refuseTooManyQuarantined(trx, owner)
  const row: QuarantineItemRow = {
    id: same?.id ?? newId(),
    owner_id: owner.id,
    publisher_id: publisher.id,
    full_name: `${owner.username}/${fields.name}`,
    version,
    digest: content.digest,
    scan: JSON.stringify(scan),
    change: unpublished.uses?.change ? JSON.stringify(unpublished.uses.change) : null,
    publication: JSON.stringify(rest satisfies QuarantinedPublication),
    agent_id: agentId ?? null,
    created_at: same?.created_at ?? at,
  }
  if (same) await trx.updateTable('quarantine_items').set(row).where('id', '=', same.id).execute()
  else {
    await trx.insertInto('quarantine_items').values(row).execute()
    await putQuarantineFiles(trx, row.id, content)
    const subject = `${row.full_name}@${version}`
    const data = { id: row.id, digest: row.digest, verdict: scan.verdict, change: unpublished.uses?.change?.verdict }
    await recordAudit(trx, { caller, action: 'quarantine.add', subject, at, data })
  }
  return toQuarantinedVersion({ ...row, publisher: publisher.username })
}

function findSameQuarantined(trx: WriteTransaction, fullName: string, digest: string) {
  return trx
    .selectFrom('quarantine_items')
    .select(['id', 'created_at'])
    .where('full_name', '=', fullName)
    .where('digest', '=', digest)
    .executeTakeFirst()
}

/** Deletes a quarantined version with its files, after a decision. */
export async function removeQuarantined(trx: WriteTransaction, id: string): Promise<void> {
  await trx.deleteFrom('quarantine_items').where('id', '=', id).execute()
}

async function refuseTooManyQuarantined(trx: WriteTransaction, owner: Publication['owner']): Promise<void> {
  const count = await countRows(trx.selectFrom('quarantine_items').where('owner_id', '=', owner.id))
  if (count < limits.quarantinedPerUserMax) return
  throw new RegistryError(
    'conflict',
    `${limits.quarantinedPerUserMax} versions of ${owner.username} are already quarantined. Withdraw one, or wait until one is decided.`,
  )
}

async function putQuarantineFiles(
  trx: WriteTransaction,
  quarantineId: string,
  { files, blobs }: PackedContent,
): Promise<void> {
  for (const [i, { path, executable }] of files.entries()) {
    await trx
      .insertInto('quarantine_files')
      .values({ quarantine_id: quarantineId, path, executable: Number(executable ?? 0), ...blobs[i]! })
      .execute()
  }
}

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
  }
}
