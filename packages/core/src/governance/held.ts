import { RegistryError, compareFiles, type Content, type HeldDetails } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { recordAudit } from '../log/audit.ts'
import { unpackBlob } from '../storage/blobs.ts'
import { requireScope, requireUser, type Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { toContentType } from '../catalogue/media-types.ts'
import { isAdministrator, isOwner } from '../catalogue/visibility.ts'
import type { HeldVersionRow } from '../storage/rows-scans.ts'
import type { Tables } from '../storage/tables.ts'
import { toHeldVersion } from '../catalogue/held-form.ts'

/** GET /held, the oldest first: the caller's own, or all for administrators. */
export async function listHeld(
  context: GovernanceContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
) {
  const { userId } = requireUser(caller)
  const shown = context.database.read
    .selectFrom('held_versions')
    .$if(!mayDecide(caller), (select) => select.where('owner_id', '=', userId))
  const { count } = await shown.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await shown
    .innerJoin('users', 'users.id', 'held_versions.publisher_id')
    .selectAll('held_versions')
    .select('users.username as publisher')
    .orderBy('held_versions.id')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { held: rows.map(toHeldVersion), ...toPage(count, page, limit) }
}

/** GET /held/<id>, for its owner and for administrators; to others it is not there. */
export async function showHeld(
  context: GovernanceContext,
  { id }: { id: string },
  caller: Caller,
): Promise<HeldDetails> {
  const row = await getHeld(context.database.read, id, caller)
  const { username } = await context.database.read
    .selectFrom('users')
    .select('username')
    .where('id', '=', row.publisher_id)
    .executeTakeFirstOrThrow()
  const files = await context.database.read
    .selectFrom('held_files')
    .select(['path', 'size', 'digest'])
    .where('held_id', '=', id)
    .execute()
  return { ...toHeldVersion({ ...row, publisher: username }), files: files.toSorted(compareFiles) }
}

/** GET /held/<id>/files/<path>. */
export async function readHeldFile(
  context: GovernanceContext,
  { id, path }: { id: string; path: string },
  caller: Caller,
): Promise<Content> {
  await getHeld(context.database.read, id, caller)
  const file = await context.database.read
    .selectFrom('held_files')
    .selectAll()
    .where('held_id', '=', id)
    .where('path', '=', path)
    .executeTakeFirst()
  if (!file) throw new RegistryError('not_found', 'The version that waits has no file of this path.')
  return {
    contentType: toContentType(path),
    body: await unpackBlob(file),
    etag: `"${file.digest}"`,
    filename: path.slice(path.lastIndexOf('/') + 1),
  }
}

/** DELETE /held/<id>: its owner withdraws it, an administrator refuses it with a note. */
export async function deleteHeld(
  context: GovernanceContext,
  { id, note }: { id: string; note: string },
  caller: Caller,
): Promise<undefined> {
  await context.database.writer.write(async (trx) => {
    const row = await getHeld(trx, id, caller)
    if (isOwner(row, caller)) requireScope(requireUser(caller), 'publish')
    await trx.deleteFrom('held_versions').where('id', '=', id).execute()
    await recordAudit(trx, {
      caller,
      action: isOwner(row, caller) ? 'held.withdraw' : 'held.refuse',
      subject: `${row.full_name}@${row.version}`,
      at: context.clock.now(),
      data: { id, digest: row.digest, note },
    })
  })
  return undefined
}

/** Whether the caller reads and decides about the quarantined versions of others. */
function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}

/**
 * A version that waits, as its owner or an administrator may see it; throws `not_found` for everybody else, `forbidden`
 * for the key of an administrator without the scope `manage`.
 */
export async function getHeld(db: Kysely<Tables>, id: string, caller: Caller): Promise<HeldVersionRow> {
  const row = await db.selectFrom('held_versions').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row || !(isOwner(row, caller) || isAdministrator(caller)))
    throw new RegistryError('not_found', 'There is no version that waits under this id.')
  if (!isOwner(row, caller)) requireScope(requireUser(caller), 'manage')
  return row
}
