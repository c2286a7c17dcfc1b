import { sql } from 'kysely'
import type { Database } from '@skillstead/core/internal'

export interface Poison {
  readonly table: string
  /** The condition of the rows, on `new`. */
  readonly when: string
  /** How the insert fails: because of the row, or because the disk is full. Default: because of the row. */
  readonly as?: 'row' | 'full disk'
}

/** The text of the database's error, which no caller may see. */
export const poisonText = 'poisoned by a trigger'

/** Makes the database fail each insert of some rows of a table. The returned function ends that. */
export async function poisonRows({ writer, dialect }: Database, poison: Poison): Promise<() => Promise<void>> {
  const name = `poison_${poison.table}`
  const statements = dialect === 'sqlite' ? toSqlite(name, poison) : toPostgres(name, poison)
  const run = (all: readonly string[]) =>
    writer.write(async (trx) => {
      for (const text of all) await sql.raw(text).execute(trx)
    })
  await run(statements.begin)
  return () => run(statements.end)
}

/** SQLite has no row id after the largest one, and reports that as a full disk. */
function toSqlite(name: string, { table, when, as }: Poison) {
  const fill = [
    `create table ${name} (id integer primary key autoincrement)`,
    `insert into ${name} values (9223372036854775807)`,
  ]
  const action = as === 'full disk' ? `insert into ${name} values (null)` : `select raise(abort, '${poisonText}')`
  return {
    begin: [...fill, `create trigger ${name} before insert on ${table} when ${when} begin ${action}; end`],
    end: [`drop trigger ${name}`, `drop table ${name}`],
  }
}

function toPostgres(name: string, { table, when, as }: Poison) {
  const code = as === 'full disk' ? 'disk_full' : 'raise_exception'
  const body = `begin raise exception '${poisonText}' using errcode = '${code}'; end`
  return {
    begin: [
      `create function ${name}() returns trigger language plpgsql as $$ ${body} $$`,
      `create trigger ${name} before insert on ${table} for each row when (${when}) execute function ${name}()`,
    ],
    end: [`drop trigger ${name} on ${table}`, `drop function ${name}`],
  }
}
