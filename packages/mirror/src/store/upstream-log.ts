import canonicalize from 'canonicalize'
import type { Kysely } from 'kysely'
import {
  growTree,
  hashLeaf,
  keepInsert,
  type LogRange,
  type LogText,
  readFrontier,
  readInBatches,
  splitHashes,
  type Tables,
  tileHashes,
  withoutNul,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { upstreamReader, upstreamTree } from './upstream-tree.ts'
import type { FeedEntry } from '../applying/mirrored-types.ts'
import { withUpstreams, type MirrorTables } from '../tables/mirror-tables.ts'

/** An entry ready to be staged: its number, its bytes and their hash. */
export interface StagedEntry {
  readonly seq: number
  readonly hash: Buffer
  readonly type: string
  /** As far as it can be one: entries are found by it. */
  readonly subject: string
  /** Canonical JSON: what the upstream's log commits to, if it is honest. */
  readonly entry: string
}

/** The bytes of an entry, and the leaf that they make, before any transaction. Throws a TypeError for what is no JSON. */
export function toStagedEntry(entry: FeedEntry): StagedEntry {
  const text = canonicalize(entry)
  if (text === undefined) throw new TypeError('An entry of a log must be a JSON value.')
  return {
    seq: entry.seq,
    hash: hashLeaf(text),
    type: entry.type,
    subject: toStoredSubject(entry.subject),
    entry: text,
  }
}

/** No name of anything is longer. */
const subjectCharactersMax = 512

/** The subject of an entry, which an upstream may have filled with anything, as every database can hold and index it. */
export function toStoredSubject(subject: string): string {
  return withoutNul(subject).slice(0, subjectCharactersMax).toWellFormed()
}

/**
 * Adds entries to what is here of an upstream's log, beyond what a checkpoint vouches for. They must follow in number on
 * the `staged` ones: throws a TypeError where they don't. Returns the tree's size and frontier with them, as stored.
 */
export async function stageEntries(
  trx: WriteTransaction,
  upstream: string,
  entries: readonly StagedEntry[],
): Promise<{ size: number; frontier: Buffer[] }> {
  const row = await withUpstreams(trx)
    .selectFrom('upstreams')
    .select(['staged', 'frontier'])
    .where('name', '=', upstream)
    .executeTakeFirstOrThrow()
  const size = row.staged + entries.length
  if (entries.some(({ seq }, i) => seq !== row.staged + 1 + i)) {
    throw new TypeError(`The entries do not follow on the ${row.staged} that are here.`)
  }
  await insertEntries(trx, ...entries.map((entry) => ({ upstream, ...entry })))
  const head = { size: row.staged, frontier: splitHashes(row.frontier) }
  const leaves = entries.map(({ hash }) => hash)
  const frontier = await growTree(trx, head, leaves, upstreamTree(upstream))
  await withUpstreams(trx)
    .updateTable('upstreams')
    .set({ staged: size, frontier })
    .where('name', '=', upstream)
    .execute()
  return { size, frontier: splitHashes(frontier) }
}

const insertEntries = keepInsert<'upstream_log', MirrorTables>('upstream_log')

/** Forgets what is here of an upstream's log beyond its first `size` entries: what no checkpoint vouched for. */
export async function dropStaged(trx: WriteTransaction, upstream: string, size: number): Promise<void> {
  await withUpstreams(trx).deleteFrom('upstream_log').where('upstream', '=', upstream).where('seq', '>', size).execute()
  for (let level = 0; tileHashes ** level <= Number.MAX_SAFE_INTEGER; level += 1) {
    const full = Math.floor(size / tileHashes ** (level + 1))
    await withUpstreams(trx)
      .deleteFrom('upstream_tiles')
      .where('upstream', '=', upstream)
      .where('level', '=', level)
      .where('n', '>=', full)
      .execute()
  }
  const frontier = Buffer.concat(await readUpstreamFrontier(trx, upstream, size))
  await withUpstreams(trx)
    .updateTable('upstreams')
    .set({ staged: size, frontier })
    .where('name', '=', upstream)
    .execute()
}

/** What the tree over the first `size` entries of an upstream's log grows from; `toRoot` makes its root of it. */
export function readUpstreamFrontier(db: Kysely<Tables>, upstream: string, size: number): Promise<Buffer[]> {
  return readFrontier(upstreamReader(db, upstream), size)
}

/** The entries of an upstream's log, in batches. */
export function readUpstreamTexts(db: Kysely<Tables>, upstream: string, range: LogRange): AsyncGenerator<LogText[]> {
  return readInBatches(upstream, range, ({ after, until }) =>
    withUpstreams(db)
      .selectFrom('upstream_log')
      .select(['seq', 'type', 'entry'])
      .where('upstream', '=', upstream)
      .where('seq', '>', after)
      .where('seq', '<=', until)
      .orderBy('seq')
      .execute(),
  )
}
