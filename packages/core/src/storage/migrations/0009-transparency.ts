import canonicalize from 'canonicalize'
import { sql, type Kysely } from 'kysely'
import { hashLeaf } from '../../log/merkle.ts'
import { growTree, splitHashes } from '../../log/log-tree.ts'
import type { Migration } from '../migrations.ts'
import type { Tables } from '../tables.ts'
import { columnsOf, primary, required } from './columns.ts'

/** Entries that are hashed at a time, so that a long log does not fill the memory. */
const sliceMax = 1000
/** What fits the length before an entry in a bundle of the tree. */
const entryBytesMax = 65_535

/** The Merkle tree over the public log, and the keys that sign it. */
export const transparency: Migration = {
  name: '0009-transparency',
  async up(db, dialect) {
    const { whole, bytes, table, keyedTable } = columnsOf(db, dialect)
    const empty = dialect === 'sqlite' ? sql`x''` : sql`''`

    await table('tree_tiles')
      .addColumn('level', whole, required)
      .addColumn('n', whole, required)
      .addColumn('root', bytes, required)
      .addColumn('middle', bytes, required)
      .addColumn('hashes', bytes, required)
      .addPrimaryKeyConstraint('tree_tiles_key', ['level', 'n'])
      .execute()
    await keyedTable('signing_keys')
      .addColumn('number', whole, primary)
      .addColumn('public_key', bytes, required)
      .addColumn('private_key', bytes)
      .addColumn('created_at', whole, required)
      .addColumn('retires_at', whole)
      .execute()
    await db.schema
      .alterTable('heads')
      .addColumn('frontier', bytes, (column) => column.notNull().defaultTo(empty))
      .execute()

    // The lists of files that entries refer to are found by it.
    await db.schema.createIndex('versions_digest').on('versions').column('digest').execute()

    await db.schema.alterTable('log').renameTo('log_without_hashes').execute()
    // The hash stands before the entry: SQLite reads a row from its beginning, and entries can be long.
    await table('log')
      .addColumn('seq', whole, primary)
      .addColumn('hash', bytes, required)
      .addColumn('type', 'text', required)
      .addColumn('at', whole, required)
      .addColumn('subject', 'text', required)
      .addColumn('digest', 'text')
      .addColumn('entry', 'text', required)
      .execute()
    await hashLog(db)
    await db.schema.dropTable('log_without_hashes').execute()
  },
}

/** The tree of a log that was kept without one. Nobody relies on it yet, so an entry that no bundle can hold is cut. */
async function hashLog(db: Kysely<Tables>): Promise<void> {
  let head = { size: 0, frontier: [] as Buffer[] }
  for (;;) {
    const { rows } = await sql<Tables['log']>`
      select * from log_without_hashes where seq > ${head.size} order by seq limit ${sliceMax}`.execute(db)
    if (rows.length === 0) break
    const hashed = rows
      .map((row) => ({ ...row, entry: cut(row.entry) }))
      .map((row) => ({ ...row, hash: hashLeaf(row.entry) }))
    await db.insertInto('log').values(hashed).execute()
    const leaves = hashed.map(({ hash }) => hash)
    head = { size: head.size + rows.length, frontier: splitHashes(await growTree(db, head, leaves)) }
  }
  await db
    .updateTable('heads')
    .set({ frontier: Buffer.concat(head.frontier) })
    .execute()
}

function cut(entry: string): string {
  if (Buffer.byteLength(entry) <= entryBytesMax) return entry
  const { data, ...rest } = JSON.parse(entry) as { data: Record<string, unknown> }
  return canonicalize({ ...rest, data: { ...data, files: null, changelog: '' } })!
}
