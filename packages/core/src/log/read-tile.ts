import { type Content, RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { LogContext } from './log-context.ts'
import { readTreeHead, tileHashes } from './log-tree.ts'
import { hashBytes } from './merkle.ts'
import { loadTiles, toTileKey, widthOf } from './tiles.ts'
import { readerOf } from './tree-rows.ts'

/** The bytes under a tile's path never change: a partial tile's path contains its width. */
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
/** Fifteen digits, the most that a JavaScript number represents exactly. */
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
