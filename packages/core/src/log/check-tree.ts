import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import { appendLeaf, hashLeaf, rootOf } from './merkle.ts'
import { type TreeRows, readHashes, splitHashes, tileHashes, toMiddle, type TreeHead } from './log-tree.ts'

type Db = Kysely<Tables>

/** An entry with its hash in the tree. */
type CheckedRow = Readonly<Pick<Tables['log'], 'seq' | 'hash' | 'entry'>>

/** A tree with its entries: of this node's own log, or of the local copy of an upstream's log. */
export interface CheckedTree<Row extends CheckedRow = CheckedRow> {
  /** Start of the sentences that report a fault of this tree: "The log's" for this node's own log. */
  readonly name: string
  readonly rows: TreeRows
  /** Reads the entries after `after` up to `end`, in order. */
  readRows(db: Db, after: number, end: number): Promise<Row[]>
  /** Whether the columns of the row match the entry's text. */
  matchesColumns(row: Row): boolean
}

/** Returns a sentence about the first mismatch between the stored tree and its entries; undefined if there is none. */
export async function findTreeProblem<Row extends CheckedRow>(db: Db, head: TreeHead, tree: CheckedTree<Row>) {
  const frontier: Buffer[] = []
  for (let size = 0; size < head.size; size += tileHashes) {
    await setImmediate()
    const end = Math.min(head.size, size + tileHashes)
    const rows = await tree.readRows(db, size, end)
    for (let seq = size + 1; seq <= end; seq += 1) {
      const row = rows[seq - size - 1]
      const problem = row?.seq === seq ? findEntryProblem(tree, row) : 'is missing.'
      if (problem) return `${tree.name} entry ${seq} ${problem}`
      appendLeaf(frontier, seq - 1, Buffer.from(row!.hash))
    }
    const problem = end % tileHashes === 0 ? await findTileProblem(db, tree, 0, end / tileHashes - 1) : undefined
    if (problem) return problem
  }
  return (await findUpperProblem(db, tree, head.size)) ?? findHeadProblem(tree, head, frontier)
}

function findEntryProblem<Row extends CheckedRow>(tree: CheckedTree<Row>, row: Row): string | undefined {
  if (!hashLeaf(row.entry).equals(row.hash)) return 'does not match its hash.'
  return tree.matchesColumns(row) ? undefined : 'does not match the columns of its row.'
}

type AnyTree = Pick<CheckedTree, 'name' | 'rows'>

/** Compares a tile with the hashes below it: leaves, or the roots of the tiles one level down. */
async function findTileProblem(db: Db, tree: AnyTree, level: number, n: number): Promise<string | undefined> {
  const name = `${tree.name} tile ${level}/${n}`
  const [tile] = await tree.rows.readTiles(db, [{ level, n }])
  if (!tile) return `${name} is missing.`
  const below = await readHashes(db, { level, start: n * tileHashes, count: tileHashes }, tree.rows)
  if (!below.equals(tile.hashes)) return `${name} does not match the ${level === 0 ? 'entries' : 'tiles'} below it.`
  if (!toMiddle(below).equals(tile.middle)) return `${name} does not match its stored middle level.`
  return rootOf(splitHashes(below)).equals(tile.root) ? undefined : `${name} does not match its root.`
}

async function findUpperProblem(db: Db, tree: AnyTree, size: number): Promise<string | undefined> {
  let tiles = Math.floor(size / tileHashes)
  for (let level = 1; tiles >= tileHashes; level += 1) {
    tiles = Math.floor(tiles / tileHashes)
    for (let n = 0; n < tiles; n += 1) {
      const problem = await findTileProblem(db, tree, level, n)
      if (problem) return problem
    }
  }
  return undefined
}

function findHeadProblem({ name }: AnyTree, { size, frontier }: TreeHead, computed: readonly Buffer[]) {
  const same = Buffer.concat(computed).equals(Buffer.concat(frontier))
  return same ? undefined : `${name} head does not match its ${size} entries.`
}
