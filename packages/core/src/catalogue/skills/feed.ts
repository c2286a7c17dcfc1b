import { setTimeout } from 'node:timers/promises'
import { RegistryError } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import type { Caller } from '../../kernel/caller.ts'
import { EncodedJson } from '../../kernel/encoded-json.ts'
import type { Input } from '../../kernel/operation-input.ts'
import { signCheckpoint } from '../../log/checkpoint.ts'
import { readTreeHead } from '../../log/log-tree.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'

/** Polling interval of the change sequence in ms. A long poll ends when this or another process commits a change. */
const feedPollMs = 50

/** A page ends before the entry that would exceed this size; entries of large versions take hundreds of kB each. */
const feedPageBytesMax = 4 * 1024 * 1024
/** Rows per read: a page that ends early then reads fewer rows than its limit. */
const feedRowsMax = 50

/**
 * GET /feed: the public log after `since`, in order, as the exact texts that the log's hashes cover. With `wait`, the
 * response waits for an entry or the timeout. A page may end before `limit`; the client continues at `next`.
 */
export async function readFeed(
  context: CatalogueContext,
  input: Input<'getFeed'>,
  _caller?: Caller,
  { signal }: CallOptions = {},
): Promise<EncodedJson> {
  await waitForEntries(context, input, signal)
  const tree = await readTreeHead(context.database.read)
  const head = tree.size
  const { entries, next } = await readFeedPage(context, input, head)
  const { origin, epoch } = context
  // The checkpoint must be of the tree that the page was read from, so that it covers every entry of the page.
  const { text: checkpoint, tag } = await signCheckpoint(context, tree)
  const end = JSON.stringify({ origin, epoch, next, head, checkpoint })
  const text = `{"entries":[${entries.join(',')}],${end.slice(1)}`
  return new EncodedJson(text, `"${epoch}-${input.since}-${next}-${tag}"`)
}

async function readFeedPage(context: StorageContext, input: { since: number; limit: number }, head: number) {
  const entries: string[] = []
  let [next, bytes] = [input.since, 0]
  while (entries.length < input.limit && next < head) {
    const rows = await context.database.read
      .selectFrom('log')
      .select(['seq', 'entry'])
      .where('seq', '>', next)
      .where('seq', '<=', head)
      .orderBy('seq')
      .limit(Math.min(feedRowsMax, input.limit - entries.length))
      .execute()
    if (rows.length === 0) break
    for (const { seq, entry } of rows) {
      bytes += Buffer.byteLength(entry)
      if (entries.length > 0 && bytes > feedPageBytesMax) return { entries, next }
      entries.push(entry)
      next = seq
    }
  }
  return { entries, next }
}

async function waitForEntries(
  context: CatalogueContext,
  { since, wait }: Input<'getFeed'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const endMs = performance.now() + wait * 1000
  let seen = -1
  while (performance.now() < endMs && !context.waits.aborted) {
    signal?.throwIfAborted()
    if (seen !== context.changes.position) {
      seen = context.changes.position
      if ((await readTreeHead(context.database.read)).size > since) return
    }
    await setTimeout(feedPollMs, undefined, { signal: context.waits }).catch(() => {})
  }
  // When the registry closes, the database closes next and must not be read.
  if (context.closing.aborted)
    throw new RegistryError('shutting_down', 'The registry is shutting down. Try again later.')
}
