import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** A value that the node stores about itself; undefined if there is none. */
export async function findMeta(db: Kysely<Tables>, key: string): Promise<string | undefined> {
  return (await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst())?.value
}

/** Deletes a value. */
export async function removeMeta(trx: WriteTransaction, key: string): Promise<void> {
  await trx.deleteFrom('meta').where('key', '=', key).execute()
}

/** Stores a value for {@link findMeta}, replacing an earlier one. */
export async function putMeta(trx: WriteTransaction, key: string, value: string): Promise<void> {
  const row = trx.insertInto('meta').values({ key, value })
  await row.onConflict((conflict) => conflict.column('key').doUpdateSet({ value })).execute()
}

/**
 * Whether this node may do work that one node does for all: on PostgreSQL only if no node began the work within
 * `everyMs` milliseconds, by the clock of the database. On SQLite always.
 */
export async function takeTurn({ dialect, read }: Database, key: string, everyMs: number): Promise<boolean> {
  if (dialect === 'sqlite') return true
  const { rows } = await sql`insert into meta (key, value)
    values (${key}, cast(floor(extract(epoch from clock_timestamp()) * 1000) as text))
    on conflict (key) do update set value = excluded.value
    where cast(excluded.value as bigint) - cast(meta.value as bigint) not between 0 and ${everyMs}
    returning key`.execute(read)
  return rows.length > 0
}
