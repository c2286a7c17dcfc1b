import { parseForeignJson } from '@skillstead/protocol'
import type { FeedEntry, LogSource } from '../types.ts'
import type { BundleHeader } from './format.ts'
import { readBundle, type BundlePart } from './read.ts'

/** Content that was passed may be asked for again: by a version whose like was refused, for instance. */
const passedBytesMax = 32 * 1024 * 1024

/** The log in a bundle; to be closed. */
export interface BundleSource extends LogSource {
  close(): Promise<void>
}

/**
 * Reads the log out of a bundle that was verified. `order` holds the content that is in it, in its order: so that the file
 * is read forward, with a bounded part of it in memory, and from its beginning again only where content is wanted that
 * was passed long before.
 */
export function createBundleSource(
  file: string,
  header: BundleHeader,
  order: ReadonlyMap<string, number>,
): BundleSource {
  const log = createForward(file, 'log')
  const blobs = createForward(file, 'blob')
  const passed = createPassed()
  /** The number of the next piece of content in the file. */
  let next = 0

  /** Hands out what is wanted up to the last of it, and keeps in mind what lies between. */
  async function* readUpTo(wanted: Map<string, number>): AsyncGenerator<{ digest: string; bytes: Uint8Array }> {
    const last = Math.max(...wanted.values())
    while (next <= last) {
      const blob = await blobs.next()
      if (!blob) return
      next += 1
      passed.add(blob)
      if (wanted.delete(blob.digest)) yield blob
    }
  }

  return {
    isCopy: true,
    requests: 0,
    readKeys: async () => [...header.keys],
    async readPage(since) {
      const { origin, epoch, until: head, checkpoint } = header
      const entries = since < header.since || since >= head ? [] : await readEntries(log, since)
      return { origin, epoch, entries, next: since + entries.length, head, checkpoint }
    },
    async *readBlobs(digests) {
      const wanted = new Map<string, number>()
      for (const digest of digests) {
        const bytes = passed.get(digest)
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

async function readEntries(log: Forward<'log'>, since: number): Promise<FeedEntry[]> {
  let part = log.current
  if (part && since + 1 < part.first) {
    await log.restart()
    part = undefined
  }
  while (!part || since + 1 >= part.first + part.entries.length) {
    part = await log.next()
    if (!part) return []
  }
  return part.entries.slice(since + 1 - part.first).map((text) => parseForeignJson(text) as FeedEntry)
}

type PartOf<Kind extends BundlePart['kind']> = Extract<BundlePart, { kind: Kind }>

/** The parts of one kind, in their order. */
interface Forward<Kind extends BundlePart['kind']> {
  /** The one that came last. */
  readonly current: PartOf<Kind> | undefined
  /** Undefined where there are no more. */
  next(): Promise<PartOf<Kind> | undefined>
  /** From the beginning of the file again. */
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

/** The content that came last, as much of it as may be in memory. */
function createPassed() {
  const passed = new Map<string, Buffer>()
  let bytes = 0
  return {
    get: (digest: string) => passed.get(digest),
    add({ digest, bytes: content }: { digest: string; bytes: Buffer }): void {
      if (passed.has(digest)) return
      passed.set(digest, content)
      bytes += content.length
      for (const [oldest, { length }] of passed) {
        if (bytes <= passedBytesMax) break
        passed.delete(oldest)
        bytes -= length
      }
    },
  }
}
