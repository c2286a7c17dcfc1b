import { limits } from '@skillstead/protocol'

/** An entry of a version, as far as it names content. */
interface NamingEntry {
  readonly seq: number
  readonly digest: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The content that the entries of a log name, and the one order of it in a bundle. */
export interface Needs {
  add(entry: NamingEntry): void
  /** Whether a version names this as the list of its files. */
  isList(digest: string): boolean
  /** Adds the files of such a list. One that cannot be read names none. */
  readList(digest: string, bytes: Uint8Array): void
  /**
   * The place of a piece of content in the order: by the entry that names it first, and within it as the entry, or the
   * list of its files, does. A list comes before the files in it. Undefined for what is not named.
   */
  placeOf(digest: string): number | undefined
}

/** A digest and what else stands in a line of the list of files that a version's digest is of. */
const manifestLine = /^(sha256:[0-9a-f]{64}) \d+ .+$/
/** More digests than an entry has room for. */
const placesOfEntry = 8192

export function createNeeds(): Needs {
  const files = new Map<string, number>()
  /** Versions whose entry had no room for the list of their files. */
  const lists = new Map<string, number>()

  return {
    add({ seq, digest, data }) {
      const place = seq * placesOfEntry
      const { files: listed } = data
      if (Array.isArray(listed)) {
        for (const [i, file] of (listed as { digest?: unknown }[]).entries()) {
          if (typeof file?.digest === 'string') name(files, file.digest, place + 1 + i)
        }
      } else if (typeof digest === 'string') name(lists, digest, place)
    },
    isList: (digest) => lists.has(digest),
    readList(digest, bytes) {
      const place = lists.get(digest)
      if (place === undefined) return
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
      const lines = text.replace(/\n$/, '').split('\n', limits.versionFilesMax + 1)
      const named = lines.map((line) => manifestLine.exec(line)?.[1])
      // An upstream may call any content the list of its files.
      if (lines.length > limits.versionFilesMax || named.includes(undefined)) return
      for (const [i, file] of named.entries()) name(files, file!, place + 1 + i)
    },
    placeOf(digest) {
      const [list = Infinity, file = Infinity] = [lists.get(digest), files.get(digest)]
      // A list that is a file of another version as well comes once.
      const place = Math.min(list, file)
      return place === Infinity ? undefined : place
    },
  }
}

function name(names: Map<string, number>, digest: string, place: number): void {
  if (place < (names.get(digest) ?? Infinity)) names.set(digest, place)
}
