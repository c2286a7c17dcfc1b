import { crc32 } from 'node:zlib'
import type { ArchiveFile } from '@skillstead/skill-format/archives'
import { packTar } from 'modern-tar'

/**
 * Writes a gzipped tar. It is not compressed, because the output of compressors changes between releases. The bytes
 * depend on the arguments alone: lock files of clients contain their hash. A path that ends in `/` is a folder.
 */
export async function writeTarGzip(entries: readonly ArchiveFile[], mtime: Date): Promise<Uint8Array<ArrayBuffer>> {
  const owner = { mtime, uid: 0, gid: 0 }
  const tar = await packTar(
    entries.map(({ path, bytes, executable }) =>
      path.endsWith('/')
        ? { header: { name: path, size: 0, type: 'directory', mode: 0o755, ...owner } }
        : {
            header: { name: path, size: bytes.length, type: 'file', mode: executable ? 0o755 : 0o644, ...owner },
            body: bytes,
          },
    ),
  )
  return gzipStored(tar)
}

/** The largest block that deflate stores (RFC 1951, section 3.2.4). */
const blockBytesMax = 0xffff

/** Writes bytes in gzip format (RFC 1952) without compressing them. */
function gzipStored(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // The gzip header: deflate, no flags, no date, no level, unknown system.
  const parts: Uint8Array[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])]
  for (let at = 0; at < bytes.length; at += blockBytesMax) {
    const block = bytes.subarray(at, at + blockBytesMax)
    const header = Buffer.alloc(5)
    header[0] = Number(at + block.length === bytes.length)
    header.writeUInt16LE(block.length, 1)
    header.writeUInt16LE(block.length ^ 0xffff, 3)
    parts.push(header, block)
  }
  const end = Buffer.alloc(8)
  end.writeUInt32LE(crc32(bytes), 0)
  end.writeUInt32LE(bytes.length, 4)
  const whole = Buffer.concat([...parts, end])
  return new Uint8Array(whole.buffer, whole.byteOffset, whole.length)
}
