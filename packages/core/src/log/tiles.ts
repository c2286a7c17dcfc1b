import { hashBytes, hashNode } from './merkle.ts'
import { cacheRecent, type Tile } from './log-context.ts'
import type { TreeReader } from './tree-rows.ts'
import { middleHashes, readHashes, splitHashes, tileHashes } from './log-tree.ts'

/** Maximum number of cached tiles, 4 MiB. Every proof uses the tiles above the leaves. */
const tilesKeptMax = 512

/** A tile of hashes: number `n` of its level. */
export interface TileRef {
  readonly level: number
  readonly n: number
}

/** Cache key of a tile. */
export function toTileKey({ level, n }: TileRef): string {
  return `${level}/${n}`
}

/** Number of hashes in the tile for a tree of `size` leaves; 0 beyond the tree. */
export function widthOf({ level, n }: TileRef, size: number): number {
  const hashes = Math.floor(size / tileHashes ** level)
  return Math.max(0, Math.min(tileHashes, hashes - n * tileHashes))
}

/**
 * Loads each tile once, with at least the hashes that it has in a tree of `size` leaves. Hashes never change, so cached
 * hashes stay valid. A tile at the edge of the tree is read again after it has grown.
 */
export async function loadTiles(
  reader: TreeReader,
  wanted: readonly TileRef[],
  size: number,
): Promise<Map<string, Tile>> {
  const { tiles } = reader
  const loaded = new Map<string, Tile>()
  const full: TileRef[] = []
  const edge: TileRef[] = []
  for (const tile of new Map(wanted.map((ref) => [toTileKey(ref), ref])).values()) {
    const cached = tiles.get(toTileKey(tile))
    const width = widthOf(tile, size)
    if (cached && cached.hashes.length >= width * hashBytes) loaded.set(toTileKey(tile), cached)
    else (width === tileHashes ? full : edge).push(tile)
  }
  const [stored, growing] = await Promise.all([readFullTiles(reader, full), readEdges(reader, edge, size)])
  for (const [key, tile] of [...stored, ...growing]) loaded.set(key, tile)
  // Insert cached tiles again too, so that the least recently used tile is evicted first.
  for (const [key, tile] of loaded) cacheRecent(tiles, key, tile, tilesKeptMax)
  return loaded
}

/** The root above hashes of a tile that form a perfect subtree. */
export function toTileNode(tile: Tile, offset: number, count: number): Buffer {
  if (count === 1) return tile.hashes.subarray(offset * hashBytes, (offset + 1) * hashBytes)
  const key = toNodeKey(offset, count)
  const cached = tile.nodes.get(key)
  if (cached) return cached
  const half = count / 2
  const node = hashNode(toTileNode(tile, offset, half), toTileNode(tile, offset + half, half))
  // Smaller subtrees are cheaper to hash again than to cache.
  if (count >= middleHashes) tile.nodes.set(key, node)
  return node
}

async function readFullTiles({ db, rows }: TreeReader, refs: readonly TileRef[]): Promise<[string, Tile][]> {
  if (refs.length === 0) return []
  const stored = await rows.readTiles(db, refs)
  if (stored.length < refs.length) throw new Error('The log is damaged: a tile is missing. Run `skillstead doctor`.')
  return stored.map((row) => [toTileKey(row), { hashes: Buffer.from(row.hashes), nodes: toMiddleNodes(row.middle) }])
}

function toMiddleNodes(middle: Uint8Array): Map<string, Buffer> {
  return new Map(splitHashes(middle).map((node, i) => [toNodeKey(i * middleHashes, middleHashes), node]))
}

function readEdges({ db, rows, tiles }: TreeReader, refs: readonly TileRef[], size: number): Promise<[string, Tile][]> {
  return Promise.all(
    refs.map(async (ref): Promise<[string, Tile]> => {
      const key = toTileKey(ref)
      const count = widthOf(ref, size)
      const place = { level: ref.level, start: ref.n * tileHashes, count }
      const hashes = await readHashes(db, place, rows)
      if (hashes.length < count * hashBytes)
        throw new Error('The log is damaged: hashes are missing. Run `skillstead doctor`.')
      // Roots of perfect subtrees stay valid while the tile grows.
      return [key, { hashes, nodes: tiles.get(key)?.nodes ?? new Map<string, Buffer>() }]
    }),
  )
}

function toNodeKey(offset: number, count: number): string {
  return `${offset}+${count}`
}
