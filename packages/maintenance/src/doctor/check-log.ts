import { toTimestamp } from '@skillstead/protocol'
import {
  findKeyProblem,
  findTreeProblem,
  ownTree,
  readTreeHead,
  tileHashes,
  type CheckedTree,
  type Database,
  type TreeHead,
} from '@skillstead/core/internal'

/** Result of a check of the whole log; `detail` is a sentence in both cases. */
export interface LogCheck {
  readonly ok: boolean
  readonly detail: string
}

type Reader = Database['read']

/**
 * Recomputes the Merkle tree from the log entries and compares it with everything that is stored: each entry with its
 * hash and its columns, each tile with the hashes below it, the head, and the two halves of each signing key. Reports
 * the first mismatch. Runs in batches, so that a node can serve requests meanwhile.
 */
export async function checkLog({ database }: { readonly database: Pick<Database, 'read'> }): Promise<LogCheck> {
  // The extent is read before the head, so that entries which are appended during the check do not look surplus.
  const extent = await readExtent(database.read)
  const head = await readTreeHead(database.read)
  const problem =
    (await findTreeProblem(database.read, head, own)) ??
    findLogExcess(extent, head) ??
    (await findKeyProblem(database.read))
  if (problem) return { ok: false, detail: `${problem} Restore a backup.` }
  return { ok: true, detail: `${head.size} entries, none missing, and their Merkle tree is correct.` }
}

function readLogRows(db: Reader, after: number, end: number) {
  return db.selectFrom('log').selectAll().where('seq', '>', after).where('seq', '<=', end).orderBy('seq').execute()
}

type Row = Awaited<ReturnType<typeof readLogRows>>[number]

const own: CheckedTree<Row> = { name: "The log's", rows: ownTree, readRows: readLogRows, matchesColumns }

function matchesColumns(row: Row): boolean {
  const { seq, type, at, subject, digest }: Record<string, unknown> = JSON.parse(row.entry)
  const isWhere = seq === row.seq && at === toTimestamp(row.at)
  return isWhere && type === row.type && subject === row.subject && digest === row.digest
}

/** The numbers of the first and last entry, and of the last tile of each level. */
async function readExtent(db: Reader) {
  const entries = await db
    .selectFrom('log')
    .select((eb) => [eb.fn.min('seq').as('first'), eb.fn.max('seq').as('last')])
    .executeTakeFirstOrThrow()
  const tiles = await db
    .selectFrom('tree_tiles')
    .select((eb) => ['level', eb.fn.max('n').as('n')])
    .groupBy('level')
    .execute()
  return { entries, tiles }
}

/** Finds entries and tiles beyond the tree head, which would block the next entries and tiles. */
function findLogExcess({ entries, tiles }: Awaited<ReturnType<typeof readExtent>>, head: TreeHead): string | undefined {
  const { first, last } = entries
  const seq = first !== null && first < 1 ? first : last
  if (seq !== null && (seq < 1 || seq > head.size)) {
    return `The log has an entry ${seq}, but its head has the size ${head.size}.`
  }
  const tile = tiles.find(({ level, n }) => (n + 1) * tileHashes ** (level + 1) > head.size)
  return tile && `The log has a tile ${tile.level}/${tile.n}, but its ${head.size} entries do not fill it.`
}
