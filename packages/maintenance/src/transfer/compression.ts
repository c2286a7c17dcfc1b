import { constants, createGunzip, createGzip } from 'node:zlib'
import * as zlib from 'node:zlib'
import type { Transform } from 'node:stream'

const chunkSize = 256 * 1024
/** The lowest level, because the contents are already compressed: a higher level would hardly save space. */
const gzipLevel = constants.Z_BEST_SPEED

/** The compressor for a file name, undefined without `.gz` or `.zst`. Throws for `.zst` if Node.js lacks Zstandard. */
export function createCompressor(name: string): Transform | undefined {
  if (/\.gz$/i.test(name)) return createGzip({ level: gzipLevel, chunkSize })
  if (!/\.zst$/i.test(name)) return undefined
  requireZstdForExport()
  return zlib.createZstdCompress({ chunkSize })
}

/** Detects the compression from the first bytes of a file, whatever its name. */
export function createDecompressor(start: Uint8Array): Transform | undefined {
  const magic = Buffer.from(start).toString('hex')
  if (magic.startsWith('1f8b')) return createGunzip({ chunkSize })
  if (!magic.startsWith('28b52ffd')) return undefined
  requireZstdForExport()
  return zlib.createZstdDecompress({ chunkSize })
}

function requireZstdForExport(): void {
  if (typeof zlib.createZstdCompress === 'function') return
  throw new Error('This Node.js does not support zstd. Use .gz, or Node.js 22.15 or newer.')
}
