import { limits } from '@skillstead/protocol'
import { damaged } from './format.ts'

/** The content that the entries read so far name, and that has not come yet. */
export interface Needs {
  add(entry: { readonly digest: string | null; readonly data: Readonly<Record<string, unknown>> }): void
  /** Whether the content is one of these; it comes once. A list of files names more of them. */
  take(digest: string, bytes: Buffer): boolean
}

/** A digest and what else stands in a line of the list of files that a version's digest is of. */
const manifestLine = /^(sha256:[0-9a-f]{64}) \d+ .+$/

export function createNeeds(): Needs {
  const files = new Set<string>()
  /** Versions whose entry had no room for the list of their files. */
  const lists = new Set<string>()

  function takeList(digest: string, bytes: Buffer): boolean {
    if (!lists.delete(digest)) return false
    const lines = bytes
      .toString()
      .replace(/\n$/, '')
      .split('\n', limits.versionFilesMax + 1)
    if (lines.length > limits.versionFilesMax) throw damaged(`the list of files ${digest} is longer than one may be`)
    for (const line of lines) {
      const [, file] = manifestLine.exec(line) ?? []
      if (file === undefined) throw damaged(`the list of files ${digest} cannot be read`)
      files.add(file)
    }
    return true
  }

  return {
    add({ digest, data }) {
      const { files: listed } = data
      if (Array.isArray(listed)) {
        for (const file of listed as { digest?: unknown }[]) {
          if (typeof file?.digest === 'string') files.add(file.digest)
        }
      } else if (typeof digest === 'string') lists.add(digest)
    },
    // A list that is a file of another version as well comes once.
    take: (digest, bytes) => [takeList(digest, bytes), files.delete(digest)].includes(true),
  }
}
