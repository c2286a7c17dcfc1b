import { readFile } from 'node:fs/promises'
import type { Registry } from '@skillstead/core'
import { sql } from 'kysely'
import type { Database } from '@skillstead/core/internal'
import { readColumns, type Column } from '../../packages/maintenance/src/transfer/portable-columns.ts'
import { toTableRules } from '../../packages/maintenance/src/transfer/portable-tables.ts'
import { fillRegistry, type Rich } from './rich-registry.ts'
import { openDatabase, openRegistry, extensions } from './open-registry.ts'

const portableNames = [...toTableRules(extensions).keys()]

/** Text that is easily spoilt on its way: quotes, line ends of several kinds, an emoji, what JSON and SQL escape. */
const trickyText = '"\\ \'quoted\' \r\n\t\u2028\u0001\u007F 図書館 🙂 \uFFFD {"a":[1]}'
const trickyBytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
const bigNumber = Number.MAX_SAFE_INTEGER - 1

/** Short reads of what was brought in: no work from the outbox, and searches by the database's own index. */
export function reopen(location: { path?: string; databaseUrl?: string }): Promise<Registry> {
  return openRegistry({ ...location, works: false, memorySkillsMax: 0 })
}

/** Makes a file of a registry with rows in every table that an export has. */
export async function makeRichFile(path: string): Promise<Pick<Rich, 'keys'>> {
  const { registry, keys } = await fillRegistry(await openRegistry({ path, origin: 'rich.example', works: false }))
  await registry.close()
  // Beneath the registry, which would make sense of them.
  const database = await openDatabase({ path })
  for (const table of portableNames) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(database.read)
    if (rows.length === 0) await addRow(database, table)
  }
  await database.close()
  return { keys }
}

/** An unusual row that no program writes, but that the schema allows. */
async function addRow({ read, writer }: Database, table: string): Promise<void> {
  const columns = await readColumns(read, 'sqlite', table)
  const { rows: references } = await sql<{ from: string; table: string; to: string }>`
    select "from", "table", "to" from pragma_foreign_key_list(${table})`.execute(read)
  const values: unknown[] = []
  for (const column of columns) {
    const reference = references.find(({ from }) => from === column.name)
    values.push(reference ? await findOne(read, reference) : toTricky(column))
  }
  const names = columns.map(({ name }) => sql.ref(name))
  await writer.write((trx) =>
    sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(trx),
  )
}

async function findOne(db: Database['read'], { table, to }: { table: string; to: string }) {
  const { rows } = await sql<{ id: unknown }>`select ${sql.ref(to)} as id from ${sql.table(table)} limit 1`.execute(db)
  return rows[0]!.id
}

function toTricky({ name, type, isNullable }: Column): unknown {
  if (isNullable && name !== 'lease') return null
  // What is found by its digest, or counts as done, is held to more than its column.
  if (name === 'digest') return 'sha256:40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880'
  if (name === 'encoding') return 'identity'
  if (name === 'size') return trickyBytes.length
  if (name === 'counts') return '{}'
  if (name === 'status' && type === 'integer') return 200
  return { integer: bigNumber, real: 0.1, text: trickyText, bytes: trickyBytes }[type]
}

/** The lines of an export that is not compressed, parsed. */
export async function readExportLines(file: string): Promise<unknown[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as unknown)
}
