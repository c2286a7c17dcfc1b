import type { Insertable } from 'kysely'
import type { Tables } from './tables.ts'
import type { WriteTransaction } from './writer.ts'

/** Inserts a row unless the table has one with its key. Returns whether it was inserted. */
export async function addRow<Table extends keyof Tables>(
  trx: WriteTransaction,
  table: Table,
  row: Insertable<Tables[Table]>,
): Promise<boolean> {
  const insert = trx.insertInto(table).values(row as never)
  const { numInsertedOrUpdatedRows } = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}
