import {
  compareFiles,
  type Content,
  type QuarantinedDetails,
  type QuarantinedVersion,
  RegistryError,
} from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { removeQuarantined, toQuarantinedVersion } from '../catalogue/publishing/quarantine-version.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import { type Caller, requireScope, requireUser } from '../kernel/caller.ts'
import { toFileRow } from '../catalogue/versions/stored-version.ts'
import { readFileRows, toContentType } from '../catalogue/versions/version-files.ts'
import { isAdministrator, isOwner } from '../visibility/rights.ts'
import type { QuarantineItemRow, Tables } from '../storage/tables.ts'
import { mayDecide, readQuarantined, selectQuarantined } from './quarantine-list.ts'

/** GET /quarantine/<id>, for its owner and administrators; `not_found` for others. */
export async function showQuarantined(
  context: StorageContext,
  { id }: Input<'getQuarantined'>,
  caller: Caller,
): Promise<QuarantinedDetails> {
  const { read } = context.database
  const stored = await findRescanned(read, id, caller)
  if (stored) return { ...stored, files: await readFileRows(read, id) }
  const row = await getQuarantined(read, id, caller)
  const { username } = await context.database.read
    .selectFrom('users')
    .select('username')
    .where('id', '=', row.publisher_id)
    .executeTakeFirstOrThrow()
  const files = await context.database.read
    .selectFrom('quarantine_files')
    .select(['path', 'size', 'digest', 'executable'])
    .where('quarantine_id', '=', id)
    .execute()
  return {
    ...toQuarantinedVersion({ ...row, publisher: username }),
    files: files.map(toFileRow).toSorted(compareFiles),
  }
}

/** GET /quarantine/<id>/files/<path>. */
export async function readQuarantinedFile(
  context: StorageContext,
  { id, path }: Input<'getQuarantinedFile'>,
  caller: Caller,
): Promise<Content> {
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

/** DELETE /quarantine/<id>: the owner withdraws the version, or an administrator refuses it with a note. */
export async function deleteQuarantined(
  context: StorageContext,
  { id, note }: Input<'deleteQuarantined'>,
  caller: Caller,
): Promise<undefined> {
  await context.database.writer.write(async (trx) => {
    const row = await getQuarantined(trx, id, caller)
    if (isOwner(row, caller)) requireScope(requireUser(caller), 'publish')
    await removeQuarantined(trx, id)
    await recordAudit(trx, {
      caller,
      action: isOwner(row, caller) ? 'quarantine.withdraw' : 'quarantine.refuse',
      subject: `${row.full_name}@${row.version}`,
      at: context.clock.now(),
      data: { id, digest: row.digest, note },
    })
  })
  return undefined
}

/**
 * A quarantined version for its owner or an administrator. Throws `not_found` for everyone else, `forbidden` for an
 * administrator's key without the scope `manage`, `conflict` for a version that was already published.
 */
export async function getQuarantined(db: Kysely<Tables>, id: string, caller: Caller): Promise<QuarantineItemRow> {
  const row = await db.selectFrom('quarantine_items').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row && (await findRescanned(db, id, caller))) {
    throw new RegistryError(
      'conflict',
      'A rescan quarantined this version after its publication. It can be neither released nor withdrawn.',
    )
  }
  if (!row || !(isOwner(row, caller) || isAdministrator(caller)))
    throw new RegistryError('not_found', 'There is no quarantined version with this id.')
  if (!isOwner(row, caller)) requireScope(requireUser(caller), 'manage')
  return row
}

/** A published version that a rescan quarantined, for its owner and for administrators with the scope `manage`. */
async function findRescanned(db: Kysely<Tables>, id: string, caller: Caller): Promise<QuarantinedVersion | undefined> {
  const found = await selectQuarantined(db, mayDecide(caller) ? undefined : requireUser(caller).userId)
    .select('versions.id')
    .where('versions.id', '=', id)
    .executeTakeFirst()
  return found && (await readQuarantined(db, [id]))[0]
}
