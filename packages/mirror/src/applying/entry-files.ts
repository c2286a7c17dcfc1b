import { limits, parseManifestLine, type ManifestFile, toFields } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import type { FeedEntry } from '../types.ts'

/**
 * The files of a version's entry. A list that is too long for the entry is a blob under the version's digest; `list` is
 * set while `contents` lacks this blob. `problem`: a sentence that says why a list is invalid.
 */
export type EntryFiles =
  | { readonly files: readonly ManifestFile[] }
  | { readonly list: string }
  | { readonly problem: string }

/**
 * Reads the list of files of an entry, so that the files can be fetched. Entries of other types than `version` have no
 * list.
 */
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

/** Parses a list of files from outside; undefined for each line that is invalid. */
export function parseManifest(bytes: Uint8Array): (ManifestFile | undefined)[] {
  // Paths contain no line breaks; see the rules for paths.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  const lines = text.replace(/\n$/, '').split('\n', limits.versionFilesMax + 1)
  return lines.map(parseManifestLine)
}

/** Validates a list of files from outside before anything in it is fetched or stored. */
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
