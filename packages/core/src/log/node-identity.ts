import { RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { putMeta } from '../storage/meta.ts'
import type { Clock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import type { Database } from '../storage/database.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { ensureSigningKey } from './signing-keys.ts'

/** The name and epoch under which a database is known to other nodes. */
export interface Identity {
  /** Name of the log and of the keys that sign it. */
  readonly origin: string
  readonly epoch: number
  /** Whether this process created it, so that the database is new. */
  readonly isNew: boolean
}

/**
 * Reads the identity of a database, or creates it on first use. The name that the caller passes is stored, so that all
 * processes that open the database sign with this name. Once the log has entries, its name cannot change, because
 * mirrors identify the log by the name.
 */
async function ensureIdentity({ writer }: Database, given: string | undefined): Promise<Identity> {
  return writer.write(async (trx) => {
    const { origin: stored, epoch } = await readStoredIdentity(trx)
    if (stored === undefined) {
      const origin = given ?? `skillstead-${newId()}`
      await putMeta(trx, 'origin', origin)
      await putMeta(trx, 'epoch', `${epoch}`)
      return { origin, epoch, isNew: true }
    }
    if (given === undefined || given === stored) return { origin: stored, epoch, isNew: false }
    const { log_seq } = await trx.selectFrom('heads').select('log_seq').executeTakeFirstOrThrow()
    if (log_seq > 0) throw toRenameError(stored, given)
    await putMeta(trx, 'origin', given)
    return { origin: given, epoch, isNew: false }
  })
}

/** Reads the identity of a database. Throws if the database has none yet, or has another name than `given`. */
async function readIdentity({ read }: Database, given: string | undefined): Promise<Identity> {
  const { origin, epoch } = await readStoredIdentity(read)
  if (origin === undefined) {
    throw new RegistryError(
      'older_schema',
      "The database has no name and no signing key yet. Open it once with the mode 'write'.",
    )
  }
  if (given !== undefined && given !== origin) throw toRenameError(origin, given)
  return { origin, epoch, isNew: false }
}

async function readStoredIdentity(db: Kysely<Tables>): Promise<{ origin: string | undefined; epoch: number }> {
  const rows = await db.selectFrom('meta').selectAll().execute()
  const meta = new Map(rows.map(({ key, value }) => [key, value]))
  return { origin: meta.get('origin'), epoch: Number(meta.get('epoch') ?? 1) }
}

function toRenameError(stored: string, given: string): Error {
  return new Error(
    `The log of this database is named '${stored}' and cannot be renamed to '${given}': mirrors identify it by its name. ` +
      'Omit the name, or use an empty database.',
  )
}

/**
 * Starts a new epoch when a database is restored to an older state or moves to another server, so that mirrors notice.
 * The epoch is the time in seconds since 1970 instead of the next number, because one backup may be restored twice, and
 * the epochs of the two restored logs must differ.
 */
export async function startEpoch(trx: WriteTransaction, before: number, now: number): Promise<number> {
  const epoch = Math.max(before + 1, Math.floor(now / 1000))
  await putMeta(trx, 'epoch', `${epoch}`)
  return epoch
}

/**
 * Reads the node's identity, and creates it and the first signing key if the registry can be written. Closes the
 * database if `origin` conflicts with the stored name.
 */
export async function openIdentity(database: Database, origin: string | undefined, clock: Clock): Promise<Identity> {
  try {
    if (database.isReadOnly) return await readIdentity(database, origin)
    const identity = await ensureIdentity(database, origin)
    await ensureSigningKey(database, clock)
    return identity
  } catch (error) {
    await database.close()
    throw error
  }
}
