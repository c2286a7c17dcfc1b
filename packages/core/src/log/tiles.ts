import { hashBytes, hashNode } from './merkle.ts'
import { keep, type Tile } from './transparency.ts'
import type { TreeReader } from './tree-rows.ts'
import { middleHashes, readHashes, splitHashes, tileHashes } from './log-tree.ts'

/** 4 MiB of tiles. Those above the leaves serve every proof. */
const tilesKeptMax = 512

/** A tile of hashes: the `n`-th of its level. */
export interface TileRef {
  readonly level: number
  readonly n: number
}

/** What a tile is kept under. */
export function toTileKey({ level, n }: TileRef): string {
  return `${level}/${n}`
}

/** How many hashes the tile has in a tree of that size: none beyond the tree. */
export function widthOf({ level, n }: TileRef, size: number): number {
  const hashes = Math.floor(size / tileHashes ** level)
  return Math.max(0, Math.min(tileHashes, hashes - n * tileHashes))
}

/**
 * The tiles, each once, with at least the hashes that they have in a tree of that size. Hashes are never changed, so
 * what is kept stays right; the tiles at the edge are read again once they have grown.
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
    const kept = tiles.get(toTileKey(tile))
    const width = widthOf(tile, size)
    if (kept && kept.hashes.length >= width * hashBytes) loaded.set(toTileKey(tile), kept)
    else (width === tileHashes ? full : edge).push(tile)
  }
  const [stored, growing] = await Promise.all([readFull(reader, full), readEdge(reader, edge, size)])
  for (const [key, tile] of [...stored, ...growing]) loaded.set(key, tile)
  // Those that were there as well: what was asked for last goes last.
  for (const [key, tile] of loaded) keep(tiles, key, tile, tilesKeptMax)
  return loaded
}

/** The root above hashes of a tile that make a perfect subtree. */
export function toNode(tile: Tile, offset: number, count: number): Buffer {
  if (count === 1) return tile.hashes.subarray(offset * hashBytes, (offset + 1) * hashBytes)
  const key = toNodeKey(offset, count)
  const kept = tile.nodes.get(key)
  if (kept) return kept
  const half = count / 2
  const node = hashNode(toNode(tile, offset, half), toNode(tile, offset + half, half))
  // Smaller ones are hashed again sooner than kept.
  if (count >= middleHashes) tile.nodes.set(key, node)
  return node
}

async function readFull({ db, rows }: TreeReader, refs: readonly TileRef[]): Promise<[string, Tile][]> {
  if (refs.length === 0) return []
  const stored = await rows.readTiles(db, refs)
  if (stored.length < refs.length) throw new Error('The log lacks a tile that its size needs.')
  return stored.map((row) => [toTileKey(row), { hashes: Buffer.from(row.hashes), nodes: toMiddleNodes(row.middle) }])
}

function toMiddleNodes(middle: Uint8Array): Map<string, Buffer> {
  return new Map(splitHashes(middle).map((node, i) => [toNodeKey(i * middleHashes, middleHashes), node]))
}

function readEdge({ db, rows, tiles }: TreeReader, refs: readonly TileRef[], size: number): Promise<[string, Tile][]> {
  return Promise.all(
    refs.map(async (ref): Promise<[string, Tile]> => {
      const key = toTileKey(ref)
      const count = widthOf(ref, size)
      const place = { level: ref.level, start: ref.n * tileHashes, count }
      const hashes = await readHashes(db, place, rows)
      if (hashes.length < count * hashBytes) throw new Error('The log lacks hashes that its size needs.')
      // A perfect subtree stays as it is while the tile grows.
      return [key, { hashes, nodes: tiles.get(key)?.nodes ?? new Map<string, Buffer>() }]
    }),
  )
}

function toNodeKey(offset: number, count: number): string {
  return `${offset}+${count}`
}
