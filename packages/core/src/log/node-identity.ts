import { newId } from '../kernel/ids.ts'
import type { Database } from '../storage/database.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** What a database is known as outside. */
export interface Identity {
  /** The name of its log, and of the keys that sign it. */
  readonly origin: string
  readonly epoch: number
}

/**
 * The identity of a database, made where it has none. A name that is given is kept, so that all processes which open the
 * database sign under it. Once the log has entries it has its name for ever: whoever follows a log knows it by that.
 */
export async function readIdentity({ writer }: Database, given: string | undefined): Promise<Identity> {
  return writer.write(async (trx) => {
    const rows = await trx.selectFrom('meta').selectAll().execute()
    const meta = new Map(rows.map(({ key, value }) => [key, value]))
    const [kept, epoch] = [meta.get('origin'), Number(meta.get('epoch') ?? 1)]
    if (kept === undefined) {
      const origin = given ?? `skillstead-${newId()}`
      const made = [
        { key: 'origin', value: origin },
        { key: 'epoch', value: `${epoch}` },
      ]
      await trx.insertInto('meta').values(made).execute()
      return { origin, epoch }
    }
    if (given === undefined || given === kept) return { origin: kept, epoch }
    const { log_seq } = await trx.selectFrom('heads').select('log_seq').executeTakeFirstOrThrow()
    if (log_seq > 0) {
      throw new Error(
        `The log of this database was begun as '${kept}' and cannot go on as '${given}', for it is known by its name. ` +
          'Leave the name out, or begin with an empty database.',
      )
    }
    await trx.updateTable('meta').set({ value: given }).where('key', '=', 'origin').execute()
    return { origin: given, epoch }
  })
}

/**
 * Begins another epoch: for a database that goes on from an older state, or on another server, so that whoever follows
 * its log notices. Seconds since 1970, and not the next number: one backup may be restored twice, and what comes after
 * are two logs.
 */
export async function startEpoch(trx: WriteTransaction, before: number, now: number): Promise<number> {
  const epoch = Math.max(before + 1, Math.floor(now / 1000))
  const row = { key: 'epoch', value: `${epoch}` }
  await trx
    .insertInto('meta')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute()
  return epoch
}
