import {
  compareFiles,
  type Content,
  type QuarantinedDetails,
  type QuarantinedVersion,
  RegistryError,
  toTimestamp,
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
import { isAdministrator } from '../visibility/rights.ts'
import type { Tables } from '../storage/tables.ts'
import { getQuarantineItem, type SeenItem } from './quarantine-access.ts'
import { readDecisions, readQuarantined, selectRescanned } from './quarantine-list.ts'

/** GET /quarantine/<id>, for its author and those who decide; `not_found` for others. */
export async function showQuarantined(
  context: StorageContext,
  { id }: Input<'getQuarantined'>,
  caller: Caller,
): Promise<QuarantinedDetails> {
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

/** DELETE /quarantine/<id>: the author withdraws the version, or one who decides refuses it with a note. */
export async function deleteQuarantined(
  context: StorageContext,
  { id, note }: Input<'deleteQuarantined'>,
  caller: Caller,
): Promise<undefined> {
  await context.database.writer.write(async (trx) => {
    const { row, isAuthor, mayReview } = await getQuarantined(trx, id, caller)
    const mayRefuse = row.reason === 'approval' ? mayReview : isAdministrator(caller)
    if (isAuthor) requireScope(requireUser(caller), 'publish')
    else if (!mayRefuse) throw new RegistryError('forbidden', 'Only its author and those who decide may remove it.')
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

/** As {@link getQuarantineItem}; throws `conflict` for a version that was already published. */
export async function getQuarantined(db: Kysely<Tables>, id: string, caller: Caller): Promise<SeenItem> {
  if (await findRescanned(db, id, caller)) {
    throw new RegistryError(
      'conflict',
      'A rescan quarantined this version after its publication. It can be neither released nor withdrawn.',
    )
  }
  return getQuarantineItem(db, id, caller)
}

/** A published version that a rescan quarantined, for its owner and for administrators with the scope `manage`. */
async function findRescanned(db: Kysely<Tables>, id: string, caller: Caller): Promise<QuarantinedVersion | undefined> {
  const found = await selectRescanned(db, caller).select('versions.id').where('versions.id', '=', id).executeTakeFirst()
  return found && (await readQuarantined(db, [id]))[0]
}
