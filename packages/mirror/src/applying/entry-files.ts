import { limits, type ManifestFile } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import type { FeedEntry } from './mirrored-types.ts'

/**
 * The files of a version's entry. Where the entry was too long for their list, the list lies in a blob under the
 * version's digest: `list` names it while `contents` lacks it. `problem` is a sentence about a list that is none.
 */
export type EntryFiles =
  | { readonly files: readonly ManifestFile[] }
  | { readonly list: string }
  | { readonly problem: string }

/** Which files an entry speaks of, so that their bytes can be fetched. An entry of another type has none. */
export function readEntryFiles(entry: FeedEntry, contents: ReadonlyMap<string, Uint8Array>): EntryFiles {
  const { type, digest, data, subject } = entry
  if (type !== 'version' || digest === null) return { files: [] }
  const given = data['files']
  if (Array.isArray(given)) return check(given as ManifestFile[], subject)
  const list = contents.get(digest)
  if (!list) return { list: digest }
  if (toDigest(list) !== digest) return { problem: `The list of files of ${subject} is not the one of its digest.` }
  return check(parseManifest(list), subject)
}

const linePattern = /^(sha256:[0-9a-f]{64}) (\d{1,9}) (.+)$/s

function parseManifest(bytes: Uint8Array): (ManifestFile | undefined)[] {
  // A path holds no line end; see the rules of paths.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const lines = text.replace(/\n$/, '').split('\n', limits.versionFilesMax + 1)
  return lines.map((line) => {
    const [, digest, size, path] = linePattern.exec(line) ?? []
    return path === undefined ? undefined : { digest: digest!, size: Number(size), path }
  })
}

/** The list comes from outside: nothing is fetched or stored by it before it is known to be one, and of a size that may be. */
function check(files: readonly (ManifestFile | undefined)[], subject: string): EntryFiles {
  if (files.length === 0 || files.length > limits.versionFilesMax || !files.every(isFile)) {
    return { problem: `${subject} has no list of files that a version may have.` }
  }
  const size = files.reduce((sum, file) => sum + file.size, 0)
  return size > limits.versionBytesMax ? { problem: `${subject} is larger than a version may be.` } : { files }
}

function isFile(file: unknown): file is ManifestFile {
  if (typeof file !== 'object' || file === null) return false
  const { path, size, digest } = file as Partial<ManifestFile>
  return (
    typeof path === 'string' &&
    Number.isSafeInteger(size) &&
    size! >= 0 &&
    size! <= limits.fileBytesMax &&
    /^sha256:[0-9a-f]{64}$/.test(String(digest))
  )
}
