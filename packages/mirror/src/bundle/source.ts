import { parseEntry } from '../applying/entry-data.ts'
import type { FeedEntry, LogSource } from '../types.ts'
import type { BundleHeader } from './format.ts'
import { readBundle, type BundlePart } from './read.ts'

/**
 * Maximum size of the cache of blobs that were read. A blob may be requested again, for example for a version with the
 * same content as a refused version.
 */
const cacheBytesMax = 32 * 1024 * 1024

/** The log in a bundle. The caller must close it. */
export interface BundleSource extends LogSource {
  close(): Promise<void>
}

/**
 * Reads the log of a verified bundle. `order` contains the place of each blob. The file is read forward with a limited
 * part in memory, and again from its beginning only for blobs that are no longer cached.
 */
export function createBundleSource(
  file: string,
  header: BundleHeader,
  order: ReadonlyMap<string, number>,
): BundleSource {
  const log = createForward(file, 'log')
  const blobs = createForward(file, 'blob')
  const cache = createBlobCache()
  /** Place of the next blob in the file. */
  let next = 0

  /** Reads the file up to the last wanted blob, yields the wanted blobs, and caches all blobs. */
  async function* readUpTo(wanted: Map<string, number>): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
    const last = Math.max(...wanted.values())
    while (next <= last) {
      const blob = await blobs.next()
      if (!blob) return
      next += 1
      cache.add(blob)
      if (wanted.delete(blob.digest)) yield blob
    }
  }

  return {
    isCopy: true,
    requests: 0,
    readKeys: async () => [...header.keys],
    async readPage(since) {
      const { origin, epoch, until: head, checkpoint } = header
      const entries = since < header.since || since >= head ? [] : await readBundledEntries(log, since)
      return { origin, epoch, entries, next: since + entries.length, head, checkpoint }
    },
    async *readBlobs(digests) {
      const wanted = new Map<string, number>()
      for (const digest of digests) {
        const bytes = cache.get(digest)
        if (bytes) yield { digest, bytes }
        else if (order.has(digest)) wanted.set(digest, order.get(digest)!)
      }
      if (wanted.size === 0) return
      if ([...wanted.values()].some((place) => place < next)) {
        await blobs.restart()
        next = 0
      }
      yield* readUpTo(wanted)
    },
    async close() {
      await log.close()
      await blobs.close()
    },
  }
}

async function readBundledEntries(log: Forward<'log'>, since: number): Promise<FeedEntry[]> {
  let part = log.current
  if (part && since + 1 < part.first) {
    await log.restart()
    part = undefined
  }
  while (!part || since + 1 >= part.first + part.entries.length) {
    part = await log.next()
    if (!part) return []
  }
  return part.entries.slice(since + 1 - part.first).map((text) => parseEntry(text))
}

type PartOf<Kind extends BundlePart['kind']> = Extract<BundlePart, { kind: Kind }>

/** Reads the parts of one kind of a bundle, in order. */
interface Forward<Kind extends BundlePart['kind']> {
  /** The part that was read last. */
  readonly current: PartOf<Kind> | undefined
  /** The next part; undefined at the end. */
  next(): Promise<PartOf<Kind> | undefined>
  /** Starts at the beginning of the file again. */
  restart(): Promise<void>
  close(): Promise<void>
}

function createForward<Kind extends BundlePart['kind']>(file: string, kind: Kind): Forward<Kind> {
  let parts: AsyncGenerator<BundlePart> | undefined
  let current: PartOf<Kind> | undefined

  async function close(): Promise<void> {
    await parts?.return(undefined)
    parts = undefined
    current = undefined
  }

  return {
    get current() {
      return current
    },
    async next() {
      parts ??= readBundle(file)
      for (;;) {
        const { value, done } = await parts.next()
        current = !done && value.kind === kind ? (value as PartOf<Kind>) : undefined
        if (done || current) return current
      }
    },
    restart: close,
    close,
  }
}

/** A cache of the blobs that were read last, up to `cacheBytesMax`. */
function createBlobCache() {
  const cache = new Map<string, Buffer>()
  let bytes = 0
  return {
    get: (digest: string) => cache.get(digest),
    add({ digest, bytes: content }: { digest: string; bytes: Buffer }): void {
      if (cache.has(digest)) return
      cache.set(digest, content)
      bytes += content.length
      for (const [oldest, { length }] of cache) {
        if (bytes <= cacheBytesMax) break
        cache.delete(oldest)
        bytes -= length
      }
    },
  }
}
