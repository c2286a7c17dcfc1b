import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import { appendLeaf, hashBytes, rootOf } from './merkle.ts'
import type { LogContext, Tile } from './log-context.ts'

/** Hashes in a tile (C2SP tlog-tiles), and the number of tree levels that a tile spans. */
export const tileHashes = 256
export const tileLevels = 8
/** Number of hashes of a tile that are combined into one hash of its middle level. */
export const middleHashes = 16

/** State of the tree: its size, and its frontier (the roots of its perfect subtrees, largest first). */
export interface TreeHead {
  readonly size: number
  readonly frontier: Buffer[]
}

/** Reads size and frontier in one statement, so that they match. */
export async function readTreeHead(db: Kysely<Tables>): Promise<TreeHead> {
  const row = await db.selectFrom('heads').select(['log_seq', 'frontier']).executeTakeFirstOrThrow()
  return { size: row.log_seq, frontier: splitHashes(row.frontier) }
}

/**
 * Appends the leaves of new log entries and stores full tiles. Returns the new frontier for the row of `heads`, whose
 * lock the caller must hold.
 */
export async function growTree(
  trx: Kysely<Tables>,
  head: TreeHead,
  leaves: readonly Buffer[],
  rows = ownTree,
): Promise<Buffer> {
  const { size, frontier } = head
  const filled: { level: number; n: number; root: Buffer }[] = []
  leaves.forEach((leaf, i) => {
    appendLeaf(frontier, size + i, leaf, (level, root) => {
      if (level % tileLevels !== 0) return
      filled.push({ level: level / tileLevels - 1, n: (size + i + 1) / 2 ** level - 1, root })
    })
  })
  for (const { level, n, root } of filled) {
    const hashes = await readHashes(trx, { level, start: n * tileHashes, count: tileHashes }, rows)
    await rows.putTile(trx, { level, n, root, middle: toMiddle(hashes), hashes })
  }
  return Buffer.concat(frontier)
}

/** The hashes of a full tile's middle level: one for each 16 hashes. */
export function toMiddle(hashes: Uint8Array): Buffer {
  const nodes = splitHashes(hashes)
  return Buffer.concat(
    Array.from({ length: nodes.length / middleHashes }, (_, i) =>
      rootOf(nodes.slice(i * middleHashes, (i + 1) * middleHashes)),
    ),
  )
}

/** Reads up to `count` hashes of one tile level, concatenated; fewer than `count` where the level ends. */
export async function readHashes(
  db: Kysely<Tables>,
  { level, start, count }: { level: number; start: number; count: number },
  rows = ownTree,
): Promise<Buffer> {
  if (level === 0) return Buffer.concat((await rows.readLeaves(db, start, count)).map(({ hash }) => hash))
  return Buffer.concat((await rows.readRoots(db, level - 1, start, count)).map(({ root }) => root))
}

/** Splits concatenated hashes. */
export function splitHashes(bytes: Uint8Array): Buffer[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: buffer.length / hashBytes }, (_, i) =>
    buffer.subarray(i * hashBytes, (i + 1) * hashBytes),
  )
}

type Db = Kysely<Tables>
type StoredTile = Tables['tree_tiles']

/** Storage of a tree's hashes: this node's own log, or the local copy of an upstream's log. */
export interface TreeRows {
  /** Reads the hashes of `count` entries from index `start` on; fewer than `count` where the log ends. */
  readLeaves(db: Db, start: number, count: number): Promise<readonly { readonly hash: Uint8Array }[]>
  /** Reads the roots of full tiles of a level. */
  readRoots(db: Db, level: number, start: number, count: number): Promise<readonly { readonly root: Uint8Array }[]>
  readTiles(db: Db, refs: readonly { readonly level: number; readonly n: number }[]): Promise<readonly StoredTile[]>
  putTile(db: Db, tile: StoredTile): Promise<unknown>
  /** Reads the newest entry about a subject in the first `treeSize` entries. `part`: a text that the entry contains. */
  readNewest(db: Db, wanted: WantedEntry): Promise<{ readonly seq: number; readonly entry: string } | undefined>
}

interface WantedEntry {
  readonly type: string
  readonly subject: string
  readonly treeSize: number
  readonly part: string
}

/** Read access to a tree: the storage and the cached tiles of the tree. */
export interface TreeReader {
  readonly db: Db
  readonly rows: TreeRows
  readonly tiles: Map<string, Tile>
}

/** The tree of this node's own log. */
export const ownTree: TreeRows = {
  readLeaves: (db, start, count) =>
    db
      .selectFrom('log')
      .select('hash')
      .where('seq', '>', start)
      .where('seq', '<=', start + count)
      .orderBy('seq')
      .execute(),
  readRoots: (db, level, start, count) =>
    db
      .selectFrom('tree_tiles')
      .select('root')
      .where('level', '=', level)
      .where('n', '>=', start)
      .where('n', '<', start + count)
      .orderBy('n')
      .execute(),
  readTiles: (db, refs) =>
    db
      .selectFrom('tree_tiles')
      .selectAll()
      .where((eb) => eb.or(refs.map(({ level, n }) => eb.and([eb('level', '=', level), eb('n', '=', n)]))))
      .execute(),
  putTile: (db, tile) => db.insertInto('tree_tiles').values(tile).execute(),
  readNewest: (db, { type, subject, treeSize, part }) =>
    db
      .selectFrom('log')
      .select(['seq', 'entry'])
      .where('subject', '=', subject)
      .where('type', '=', type)
      .where('seq', '<=', treeSize)
      .where('entry', 'like', `%${part}%`)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst(),
}

/** Reads this node's own tree, with cached tiles. */
export function readerOf({ database, transparency }: LogContext): TreeReader {
  return { db: database.read, rows: ownTree, tiles: transparency.tiles }
}
