import type { FileHandle } from 'node:fs/promises'
// The default import, because a named import that an older Node.js lacks would fail with an unclear error.
import zlib, { type ZstdCompress, type ZstdDecompress } from 'node:zlib'
import { RegistryError } from '@skillstead/protocol'

/**
 * The window of the compression, as power of two: 8 MiB. A larger window saves little, because versions of one skill
 * are close to each other in a log. Decompressing a bundle needs as much memory.
 */
const windowLog = 23
/** The largest window that is accepted, as power of two. Bundles that need more memory to decompress are rejected. */
const windowLogMax = 27
const chunkSize = 256 * 1024

/** Opens a compressor for bundles. Throws `not_implemented` if Node.js is too old for Zstandard. */
export function openCompressor(): ZstdCompress {
  requireZstdForBundle()
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: window, ZSTD_c_checksumFlag: checksum } = zlib.constants
  return zlib.createZstdCompress({ chunkSize, params: { [level]: 3, [window]: windowLog, [checksum]: 1 } })
}

/** Opens a decompressor for bundles. Throws `not_implemented` if Node.js is too old for Zstandard. */
export function openDecompressor(): ZstdDecompress {
  requireZstdForBundle()
  return zlib.createZstdDecompress({ chunkSize, params: { [zlib.constants.ZSTD_d_windowLogMax]: windowLogMax } })
}

function requireZstdForBundle(): void {
  if (typeof zlib.createZstdCompress === 'function') return
  const sentence = `Bundles are compressed with Zstandard, which Node.js ${process.versions.node} does not support.`
  throw new RegistryError('not_implemented', `${sentence} Use Node.js 22.15 or later, or 24.`)
}

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const dictionaryIdBytes = [0, 1, 2, 4]
const contentSizeBytes = [0, 2, 4, 8]
const blockHeaderBytes = 3
const checksumBytes = 4
/** The type of a block that repeats one byte. Its size field is the size of the decompressed content. */
const rleBlock = 1

/**
 * Finds the end of the Zstandard frame at the start of a file, by its block headers (RFC 8878, section 3.1.1). Used to
 * reject data after the frame: decompressors ignore or accept it, so different files could contain the same bundle.
 * Undefined if the file does not start with a frame, Infinity if the frame is incomplete.
 */
export async function findFrameEnd(file: FileHandle): Promise<number | undefined> {
  const start = await readAt(file, 0, magic.length + 1)
  if (!start?.subarray(0, magic.length).equals(magic)) return undefined
  const descriptor = start[magic.length]!
  const isSingleSegment = (descriptor & 0x20) !== 0
  const contentSizeFlag = descriptor >> 6
  const contentSize = contentSizeFlag === 0 && isSingleSegment ? 1 : contentSizeBytes[contentSizeFlag]!
  let at = start.length + (isSingleSegment ? 0 : 1) + dictionaryIdBytes[descriptor & 3]! + contentSize
  for (let isLast = false; !isLast;) {
    const header = await readAt(file, at, blockHeaderBytes)
    if (!header) return Infinity
    const block = header.readUIntLE(0, blockHeaderBytes)
    isLast = (block & 1) === 1
    at += blockHeaderBytes + (((block >> 1) & 3) === rleBlock ? 1 : block >> 3)
  }
  return at + ((descriptor & 4) === 0 ? 0 : checksumBytes)
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return bytesRead === length ? buffer : undefined
}
