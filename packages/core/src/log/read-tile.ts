import { RegistryError, type Content } from '@skillstead/protocol'
import type { LogContext } from './log-context.ts'
import { hashBytes } from './merkle.ts'
import { parseTilePath } from './tile-path.ts'
import { loadTiles, toTileKey, widthOf } from './tiles.ts'
import { readerOf } from './tree-rows.ts'
import { readTreeHead, tileHashes } from './log-tree.ts'

/** The bytes under a tile's path never change: a partial tile's path contains its width. */
const forEver = 'public, max-age=31536000, immutable'

/**
 * GET /tile/<level>/<n>[.p/<width>] and /tile/entries/<n>[.p/<width>]: hashes or entries of the log (C2SP tlog-tiles).
 * Throws `invalid_request` for a malformed path and `not_found` beyond the tree.
 */
export async function readTile(context: LogContext, { path }: { path: string }): Promise<Content> {
  const tile = parseTilePath(path)
  if (!tile) throw malformed()
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
    tile.level === 'entries' ? await readEntries(context, n, width) : await readTileHashes(context, { level, n }, width)
  return { contentType: 'application/octet-stream', body, cacheControl: forEver }
}

async function readTileHashes(context: LogContext, tile: { level: number; n: number }, width: number): Promise<Buffer> {
  const size = (tile.n * tileHashes + width) * tileHashes ** tile.level
  const tiles = await loadTiles(readerOf(context), [tile], size)
  return tiles.get(toTileKey(tile))!.hashes.subarray(0, width * hashBytes)
}

/** Encodes each entry after its length in two bytes. */
async function readEntries({ database }: LogContext, n: number, width: number): Promise<Buffer> {
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

function malformed(): RegistryError {
  const message = 'must be a tile such as 0/x001/234, 1/000.p/17 or entries/000'
  return new RegistryError('invalid_request', `\`path\` ${message}.`, { errors: [{ path: 'path', message }] })
}
