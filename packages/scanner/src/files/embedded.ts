import type { BinaryFile } from './binary.ts'
import { unpackGzip, type UnpackBudget } from './unpack.ts'

/** Archives that a script may have behind its last line, by their first bytes in Latin-1. */
const archives = [
  ['gzip', '\n\x1f\x8b\x08'],
  ['xz', '\n\xfd7zXZ\0'],
  ['bzip2', '\nBZh91AY&SY'],
  ['zstd', '\n\x28\xb5\x2f\xfd'],
  ['7z', '\n7z\xbc\xaf\x27\x1c'],
  ['rar', '\nRar!\x1a\x07'],
] as const

/** The content of an archive that begins after a line of another file, or why it was not inspected, as a sentence. */
export interface Embedded {
  readonly inner: readonly BinaryFile[]
  readonly cut: string | undefined
}

/** Finds an archive that begins after a line of a text: a script that unpacks its own end. */
export function findEmbedded({ path, bytes }: BinaryFile, budget: UnpackBudget): Embedded {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const [name, magic] of archives) {
    const at = buffer.indexOf(magic, 0, 'latin1')
    if (at === -1) continue
    if (name !== 'gzip') return { inner: [], cut: `It ends with a ${name} archive, which the scan cannot open.` }
    const { entries, cut } = unpackGzip(path, buffer.subarray(at + 1), budget)
    return {
      inner: entries.flatMap((entry) => (entry.bytes ? [{ path: `${path}!/data`, bytes: entry.bytes }] : [])),
      cut: cut === undefined ? undefined : `Not all of the archive at its end was inspected. ${cut}`,
    }
  }
  return { inner: [], cut: undefined }
}
