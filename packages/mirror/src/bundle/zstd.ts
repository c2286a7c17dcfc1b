// Import the default export: a named import that an older Node.js lacks would fail with an unclear error.
import zlib, { type ZstdCompress, type ZstdDecompress } from 'node:zlib'
import { RegistryError } from '@skillstead/protocol'

/**
 * 8 MiB. Versions of one skill are close to each other in a log, so a larger window saves little. Decompressing a
 * bundle needs as much memory.
 */
const windowLog = 23
/** Bundles that need more memory than this to decompress are rejected. */
const windowLogMax = 27
const chunkSize = 256 * 1024

/** Throws `not_implemented` if Node.js is too old for Zstandard. */
export function openCompressor(): ZstdCompress {
  requireZstd()
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: window, ZSTD_c_checksumFlag: checksum } = zlib.constants
  return zlib.createZstdCompress({ chunkSize, params: { [level]: 3, [window]: windowLog, [checksum]: 1 } })
}

/** Throws `not_implemented` if Node.js is too old for Zstandard. */
export function openDecompressor(): ZstdDecompress {
  requireZstd()
  return zlib.createZstdDecompress({ chunkSize, params: { [zlib.constants.ZSTD_d_windowLogMax]: windowLogMax } })
}

function requireZstd(): void {
  if (typeof zlib.createZstdCompress === 'function') return
  const sentence = `Bundles are compressed with Zstandard, which Node.js ${process.versions.node} does not support.`
  throw new RegistryError('not_implemented', `${sentence} Use Node.js 22.15 or later, or 24.`)
}
