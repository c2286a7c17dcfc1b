import { limits, parseManifestLine, type ManifestFile, toFields } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import type { FeedEntry } from '../types.ts'

/**
 * The files of a version's entry. If the list of files is too long for the entry, it is a blob with the version's
 * digest: while `contents` lacks this blob, only `list` is set, to the digest. `problem`: a sentence that explains why
 * the list is invalid.
 */
export type EntryFiles =
  | { readonly files: readonly ManifestFile[] }
  | { readonly list: string }
  | { readonly problem: string }

/** Reads the list of files of an entry, so that the files can be fetched. Only entries of type `version` have files. */
export function readEntryFiles(entry: FeedEntry, contents: ReadonlyMap<string, Uint8Array>): EntryFiles {
  const { type, digest, data, subject } = entry
  if (type !== 'version' || digest === null) return { files: [] }
  const given = data['files']
  if (Array.isArray(given)) return checkEntryFiles(given, subject)
  const list = contents.get(digest)
  if (!list) return { list: digest }
  if (toDigest(list) !== digest) return { problem: `The list of files of ${subject} does not match its digest.` }
  return checkEntryFiles(parseManifest(list), subject)
}

/** Parses a list of files that an upstream sent. Returns undefined in place of each invalid line. */
export function parseManifest(bytes: Uint8Array): (ManifestFile | undefined)[] {
  // Splitting at line breaks is safe, because the rules for paths allow no line break in a path.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const lines = text.replace(/\n$/, '').split('\n', limits.versionFilesMax + 1)
  return lines.map(parseManifestLine)
}

/** Validates a list of files that an upstream sent, before any of its files is fetched or stored. */
function checkEntryFiles(files: readonly unknown[], subject: string): EntryFiles {
  if (files.length === 0 || files.length > limits.versionFilesMax || !files.every(isManifestFile)) {
    return { problem: `The list of files of ${subject} is invalid.` }
  }
  const size = files.reduce((sum, file) => sum + file.size, 0)
  return size > limits.versionBytesMax
    ? { problem: `${subject} is larger than ${limits.versionBytesMax} bytes, the maximum of a version.` }
    : { files }
}

function isManifestFile(file: unknown): file is ManifestFile {
  const { path, size, digest, executable } = toFields(file)
  return (
    typeof path === 'string' &&
    typeof size === 'number' &&
    Number.isSafeInteger(size) &&
    size >= 0 &&
    size <= limits.fileBytesMax &&
    /^sha256:[0-9a-f]{64}$/.test(String(digest)) &&
    (executable === undefined || typeof executable === 'boolean')
  )
}
