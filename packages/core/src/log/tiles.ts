import { hashBytes, hashNode } from './merkle.ts'
import { cacheRecent, type Tile, type LogContext } from './log-context.ts'
import {
  type TreeReader,
  middleHashes,
  readHashes,
  splitHashes,
  tileHashes,
  readTreeHead,
  readerOf,
} from './log-tree.ts'
import { type Content, RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'

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
function widthOf({ level, n }: TileRef, size: number): number {
  const hashes = Math.floor(size / tileHashes ** level)
  return Math.max(0, Math.min(tileHashes, hashes - n * tileHashes))
}

/**
 * Loads each tile once, with at least the hashes that it has in a tree of `size` leaves. Hashes never change, so cached
 * hashes stay valid. A tile at the edge of the tree is read again after it has grown.
 */
export async function loadTiles(reader: TreeReader, wanted: readonly TileRef[], size: number) {
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

/** The root of a perfect subtree inside a tile: of `count` hashes from `offset` on. */
export function toTileNode(tile: Tile, offset: number, count: number): Buffer {
  if (count === 1) return tile.hashes.subarray(offset * hashBytes, (offset + 1) * hashBytes)
  const key = toNodeKey(offset, count)
  const cached = tile.nodes.get(key)
  if (cached) return cached
  const half = count / 2
  const node = hashNode(toTileNode(tile, offset, half), toTileNode(tile, offset + half, half))
  // Do not cache smaller subtrees: hashing them again is cheaper.
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
      // Keep the cached roots: roots of perfect subtrees stay valid while the tile grows.
      return [key, { hashes, nodes: tiles.get(key)?.nodes ?? new Map<string, Buffer>() }]
    }),
  )
}

function toNodeKey(offset: number, count: number): string {
  return `${offset}+${count}`
}

/** Tiles are cached forever: the bytes at a path never change, since a partial tile's path contains its width. */
const forEver = 'public, max-age=31536000, immutable'

/**
 * GET /tile/<level>/<n>[.p/<width>] and /tile/entries/<n>[.p/<width>]: hashes or entries of the log (C2SP tlog-tiles).
 * Throws `invalid_request` for a malformed path and `not_found` beyond the tree.
 */
export async function readTile(context: LogContext, { path }: { path: string }): Promise<Content> {
  const tile = parseTilePath(path)
  if (!tile) throw toMalformedPath()
  const { n, width } = tile
  const level = tile.level === 'entries' ? 0 : tile.level
  const { size } = await readTreeHead(context.database.read)
  if (width > widthOf({ level, n }, size)) {
    throw new RegistryError(
      'not_found',
      `The log of ${size} entries has no such tile. GET /checkpoint returns its current size.`,
    )
  }
  const body =
    tile.level === 'entries'
      ? await readEntryBundle(context, n, width)
      : await readTileHashes(context, { level, n }, width)
  return { contentType: 'application/octet-stream', body, cacheControl: forEver }
}

async function readTileHashes(context: LogContext, tile: { level: number; n: number }, width: number): Promise<Buffer> {
  const size = (tile.n * tileHashes + width) * tileHashes ** tile.level
  const tiles = await loadTiles(readerOf(context), [tile], size)
  return tiles.get(toTileKey(tile))!.hashes.subarray(0, width * hashBytes)
}

/** Encodes each entry after its length in two bytes. */
async function readEntryBundle({ database }: StorageContext, n: number, width: number): Promise<Buffer> {
  const rows = await database.read
    .selectFrom('log')
    .select('entry')
    .where('seq', '>', n * tileHashes)
    .where('seq', '<=', n * tileHashes + width)
    .orderBy('seq')
    .execute()
  return Buffer.concat(
    rows.flatMap(({ entry }) => {
      const bytes = Buffer.from(entry)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(bytes.length)
      return [length, bytes]
    }),
  )
}

function toMalformedPath(): RegistryError {
  const message = 'must be a tile such as 0/x001/234, 1/000.p/17 or entries/000'
  return new RegistryError('invalid_request', `\`path\` ${message}.`, { errors: [{ path: 'path', message }] })
}

/** The content at a path below `/tile/` (C2SP tlog-tiles): hashes of a level, or entries. */
interface TilePath {
  readonly level: number | 'entries'
  readonly n: number
  /** Number of hashes or entries; 256 for a full tile. */
  readonly width: number
}

const pattern = /^(entries|[1-5]?\d|6[0-3])\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/
/** Maximum groups of three digits: a JavaScript number represents all numbers of fifteen digits exactly. */
const groupsMax = 5

/** Parses a path such as `1/x001/234.p/7`; undefined unless it is the canonical path of a tile. */
export function parseTilePath(path: string): TilePath | undefined {
  const [, level, groups, partial] = pattern.exec(path) ?? []
  if (level === undefined || groups === undefined) return undefined
  const parts = groups.split('/')
  const isPadded = parts.length > 1 && parts[0] === 'x000'
  const width = partial === undefined ? 256 : Number(partial)
  if (isPadded || parts.length > groupsMax || (partial !== undefined && width > 255)) return undefined
  const n = Number(parts.map((part) => part.replace('x', '')).join(''))
  return { level: level === 'entries' ? level : Number(level), n, width }
}
