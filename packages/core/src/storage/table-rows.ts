import { sql, type Insertable, type Kysely, type Selectable } from 'kysely'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** Values of the columns that identify rows. */
type Key<Table extends keyof Tables> = Partial<Selectable<Tables[Table]>>

/** Whether a table has a row with these values. */
export async function hasRow<Table extends keyof Tables>(db: Kysely<Tables>, table: Table, key: Key<Table>) {
  const found = db.selectFrom(table as 'skills').select(sql<number>`1`.as('found'))
  const row = await found
    .where((eb) => eb.and(key as object))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Inserts a row unless the table has a row with the same key. Returns whether the row was inserted. */
export async function addRow<Table extends keyof Tables>(
  trx: WriteTransaction,
  table: Table,
  row: Insertable<Tables[Table]>,
): Promise<boolean> {
  const insert = trx.insertInto(table).values(row as never)
  const { numInsertedOrUpdatedRows } = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Deletes the rows with these values. Returns whether any row was deleted. */
export async function removeRows<Table extends keyof Tables>(trx: WriteTransaction, table: Table, key: Key<Table>) {
  const removal = trx.deleteFrom(table as 'skills').where((eb) => eb.and(key as object))
  return (await removal.executeTakeFirst()).numDeletedRows > 0n
}

/** Adds numbers to columns of the row with an id. */
export async function increment<Table extends 'skills' | 'requests' | 'agent_reviews' | 'external_skills'>(
  trx: WriteTransaction,
  table: Table,
  id: string,
  steps: Key<Table>,
): Promise<void> {
  const added = Object.entries(steps).map(([name, step]) => [name, sql`${sql.ref(name)} + ${step}`])
  await trx
    .updateTable(table as 'skills')
    .set(Object.fromEntries(added))
    .where('id', '=', id)
    .execute()
}
