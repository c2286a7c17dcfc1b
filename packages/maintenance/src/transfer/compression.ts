import { constants, createGunzip, createGzip } from 'node:zlib'
import * as zlib from 'node:zlib'
import type { Transform } from 'node:stream'

const chunkSize = 256 * 1024
/** Contents are compressed already; more effort would be felt in time and hardly in size. */
const gzipLevel = constants.Z_BEST_SPEED

/** What the name of a file asks for: `.gz` and `.zst` are compressed. Throws a sentence where this Node cannot. */
export function createCompressor(name: string): Transform | undefined {
  if (/\.gz$/i.test(name)) return createGzip({ level: gzipLevel, chunkSize })
  if (!/\.zst$/i.test(name)) return undefined
  requireZstd()
  return zlib.createZstdCompress({ chunkSize })
}

/** Tells by the first bytes how a file is compressed, whatever it is called. */
export function createDecompressor(start: Uint8Array): Transform | undefined {
  const magic = Buffer.from(start).toString('hex')
  if (magic.startsWith('1f8b')) return createGunzip({ chunkSize })
  if (!magic.startsWith('28b52ffd')) return undefined
  requireZstd()
  return zlib.createZstdDecompress({ chunkSize })
}

function requireZstd(): void {
  if (typeof zlib.createZstdCompress === 'function') return
  throw new Error('This Node has no zstd: use .gz, or Node 22.15 or newer.')
}
