import type { Kysely } from 'kysely'
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
