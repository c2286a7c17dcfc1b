import { crc32 } from 'node:zlib'
import type { ArchiveFile } from './entry-options.ts'

/**
 * Writes a reproducible zip: its bytes depend only on the paths and contents, in this and later releases. SKILL.md
 * comes first, then the other files in the order of code units; files are stored uncompressed, because compressors
 * change; date 1980-01-01, mode 0644, or 0755 for executable files. Agents compare the digest of the zip to detect
 * updates.
 *
 * Throws a TypeError for two files with the same path.
 */
export function writeZip(files: readonly ArchiveFile[]): Uint8Array<ArrayBuffer> {
  const entries = sortFiles(files).map(({ path, bytes, executable }) => ({
    name: Buffer.from(path),
    bytes,
    crc: crc32(bytes),
    mode: executable ? 0o100755 : 0o100644,
  }))
  const locals = entries.map(toLocalHeader)
  const centrals: Buffer[] = []
  let offset = 0
  for (const [index, entry] of entries.entries()) {
    centrals.push(toCentralHeader(entry, offset))
    offset += locals[index]!.length + entry.bytes.length
  }
  const data = entries.flatMap(({ bytes }, index) => [locals[index]!, bytes])
  const directoryBytes = centrals.reduce((sum, { length }) => sum + length, 0)
  const zip = Buffer.concat([...data, ...centrals, toEndRecord(entries.length, directoryBytes, offset)])
  return new Uint8Array(zip.buffer, zip.byteOffset, zip.length)
}

interface Entry {
  readonly name: Buffer
  readonly bytes: Uint8Array
  readonly crc: number
  readonly mode: number
}

const filesMax = 0xfffe
/** 2.0, the version of the format that has folders and UTF-8 names. */
const formatVersion = 20
/** Made on Unix (3), so that readers apply the file mode. */
const madeBy = (3 << 8) | formatVersion
const nameIsUtf8 = 0x800
/** 1980-01-01, 00:00, the earliest date of the format. */
const dosDate = (1 << 5) | 1

function sortFiles<File extends { readonly path: string }>(files: readonly File[]): File[] {
  if (files.length > filesMax) throw new TypeError(`A zip can contain at most ${filesMax} files.`)
  const sorted = files.toSorted((a, b) => compareRank(a.path, b.path))
  const double = sorted.find(({ path }, index) => sorted[index + 1]?.path === path)
  if (double) throw new TypeError(`Two files have the path '${double.path}'. Pass only one of them.`)
  return sorted
}

function compareRank(a: string, b: string): number {
  const rank = Number(b === 'SKILL.md') - Number(a === 'SKILL.md')
  // By code unit, as `<` compares; `localeCompare` differs between machines.
  return rank || (a < b ? -1 : Number(a > b))
}

function toLocalHeader(entry: Entry): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  writeCommon(header, 4, entry)
  return Buffer.concat([header, entry.name])
}

function toCentralHeader(entry: Entry, offset: number): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(madeBy, 4)
  writeCommon(header, 6, entry)
  header.writeUInt32LE(entry.mode * 0x10000, 38)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, entry.name])
}

/** Writes the fields that a local header and an entry of the central directory have in the same order. */
function writeCommon(header: Buffer, at: number, { name, bytes, crc }: Entry): void {
  header.writeUInt16LE(formatVersion, at)
  header.writeUInt16LE(nameIsUtf8, at + 2)
  header.writeUInt16LE(dosDate, at + 8)
  header.writeUInt32LE(crc, at + 10)
  header.writeUInt32LE(bytes.length, at + 14)
  header.writeUInt32LE(bytes.length, at + 18)
  header.writeUInt16LE(name.length, at + 22)
}

function toEndRecord(count: number, directoryBytes: number, directoryStart: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directoryBytes, 12)
  end.writeUInt32LE(directoryStart, 16)
  return end
}
