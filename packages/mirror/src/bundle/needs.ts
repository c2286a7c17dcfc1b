import { parseManifest } from '../applying/entry-files.ts'
import { limits } from '@skillstead/protocol'

/** The fields of a version's entry that name content. */
interface NamingEntry {
  readonly seq: number
  readonly digest: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The blobs that the entries of a log name, and their order in a bundle. */
export interface Needs {
  add(entry: NamingEntry): void
  /** Whether the blob is the file list of a version. */
  isList(digest: string): boolean
  /** Adds the files that a file list names. An invalid list adds none. */
  readList(digest: string, bytes: Uint8Array): void
  /**
   * The place of a blob in the order: by the first entry that names the blob, then by the blob's place in the file list
   * of this entry. A file list comes before its files. Undefined for a blob that no entry names.
   */
  placeOf(digest: string): number | undefined
}

/** Number of places in the order that are reserved for each entry: more than an entry can have digests. */
const placesOfEntry = 8192

export function createNeeds(): Needs {
  const files = new Map<string, number>()
  /** The places of file lists that are too long for their entries, by the digests of the versions. */
  const lists = new Map<string, number>()

  return {
    add({ seq, digest, data }) {
      const place = seq * placesOfEntry
      const { files: listed } = data
      if (Array.isArray(listed)) {
        for (const [i, file] of (listed as { digest?: unknown }[]).entries()) {
          if (typeof file?.digest === 'string') addFirstPlace(files, file.digest, place + 1 + i)
        }
      } else if (typeof digest === 'string') addFirstPlace(lists, digest, place)
    },
    isList: (digest) => lists.has(digest),
    readList(digest, bytes) {
      const place = lists.get(digest)
      if (place === undefined) return
      const named = parseManifest(bytes)
      // Ignored if it is not a list: an upstream may declare any blob as the file list of a version.
      if (named.length > limits.versionFilesMax || named.includes(undefined)) return
      for (const [i, file] of named.entries()) addFirstPlace(files, file!.digest, place + 1 + i)
    },
    placeOf(digest) {
      const [list = Infinity, file = Infinity] = [lists.get(digest), files.get(digest)]
      // A blob that is both a file list and a file of another version occurs once, at the earlier place.
      const place = Math.min(list, file)
      return place === Infinity ? undefined : place
    },
  }
}

function addFirstPlace(names: Map<string, number>, digest: string, place: number): void {
  if (place < (names.get(digest) ?? Infinity)) names.set(digest, place)
}
