// By the default export: of a name that an older Node lacks, an import would fail without a word about why.
import zlib, { type ZstdCompress, type ZstdDecompress } from 'node:zlib'
import { RegistryError } from '@skillstead/protocol'

/**
 * 8 MiB: versions of one skill lie close to each other in a log, so that more saves little; whoever unpacks a bundle
 * needs as much memory.
 */
const windowLog = 23
/** A bundle that wants more memory than this to be unpacked is refused. */
const windowLogMax = 27
const chunkSize = 256 * 1024

/** Throws `not_implemented` where the Node is too old for it. */
export function openCompressor(): ZstdCompress {
  requireZstd()
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: window, ZSTD_c_checksumFlag: checksum } = zlib.constants
  return zlib.createZstdCompress({ chunkSize, params: { [level]: 3, [window]: windowLog, [checksum]: 1 } })
}

/** Throws `not_implemented` where the Node is too old for it. */
export function openDecompressor(): ZstdDecompress {
  requireZstd()
  return zlib.createZstdDecompress({ chunkSize, params: { [zlib.constants.ZSTD_d_windowLogMax]: windowLogMax } })
}

function requireZstd(): void {
  if (typeof zlib.createZstdCompress === 'function') return
  const sentence = `Bundles are compressed with Zstandard, which Node ${process.versions.node} lacks.`
  throw new RegistryError('not_implemented', `${sentence} Use Node 22.15 or later, or 24.`)
}
