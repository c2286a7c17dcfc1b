import type { TreeReader, TreeRows, Tables } from '@skillstead/core/internal'
import type { Kysely } from 'kysely'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The stored Merkle tree of an upstream's log. */
export function upstreamTree(upstream: string): TreeRows {
  return {
    readLeaves: (db, start, count) =>
      withUpstreams(db)
        .selectFrom('upstream_log')
        .select('hash')
        .where('upstream', '=', upstream)
        .where('seq', '>', start)
        .where('seq', '<=', start + count)
        .orderBy('seq')
        .execute(),
    readRoots: (db, level, start, count) =>
      withUpstreams(db)
        .selectFrom('upstream_tiles')
        .select('root')
        .where('upstream', '=', upstream)
        .where('level', '=', level)
        .where('n', '>=', start)
        .where('n', '<', start + count)
        .orderBy('n')
        .execute(),
    readTiles: (db, refs) =>
      withUpstreams(db)
        .selectFrom('upstream_tiles')
        .selectAll()
        .where('upstream', '=', upstream)
        .where((eb) => eb.or(refs.map(({ level, n }) => eb.and([eb('level', '=', level), eb('n', '=', n)]))))
        .execute(),
    putTile: (db, tile) =>
      withUpstreams(db)
        .insertInto('upstream_tiles')
        .values({ ...tile, upstream })
        .execute(),
  }
}

/** Reads an upstream's tree without a cache, because the stored log may be deleted and replaced by another. */
export function upstreamReader(db: Kysely<Tables>, upstream: string): TreeReader {
  return { db, rows: upstreamTree(upstream), tiles: new Map() }
}
