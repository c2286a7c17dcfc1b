import type { Kysely } from 'kysely'
import type { LogContext, Tile } from './log-context.ts'
import type { Tables } from '../storage/tables.ts'

type Db = Kysely<Tables>
type StoredTile = Tables['tree_tiles']

/** Storage of a tree's hashes: this node's own log, or the local copy of an upstream's log. */
export interface TreeRows {
  /** Reads the hashes of entries from index `start` on; fewer where the log ends. */
  readLeaves(db: Db, start: number, count: number): Promise<readonly { readonly hash: Uint8Array }[]>
  /** Reads the roots of full tiles of a level. */
  readRoots(db: Db, level: number, start: number, count: number): Promise<readonly { readonly root: Uint8Array }[]>
  readTiles(db: Db, refs: readonly { readonly level: number; readonly n: number }[]): Promise<readonly StoredTile[]>
  putTile(db: Db, tile: StoredTile): Promise<unknown>
  /** Reads the newest entry about a subject, among the first `treeSize` entries. `part`: what its text contains. */
  readNewest(db: Db, wanted: WantedEntry): Promise<{ readonly seq: number; readonly entry: string } | undefined>
}

interface WantedEntry {
  readonly type: string
  readonly subject: string
  readonly treeSize: number
  readonly part: string
}

/** Read access to a tree: its storage and its cached tiles. */
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
