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
import type { FeedEntry } from '../types.ts'
import { withUpstreams, type MirrorTables } from '../tables/mirror-tables.ts'

/** An entry ready to be staged (stored unverified): its number, its bytes and their hash. */
export interface StagedEntry {
  readonly seq: number
  readonly hash: Buffer
  readonly type: string
  /** The subject, shortened to what the database can store and index. */
  readonly subject: string
  /** Canonical JSON: the bytes that the upstream's log commits to. */
  readonly entry: string
}

/**
 * Computes the bytes of an entry and their Merkle leaf hash, outside of any transaction. Throws a TypeError for a value
 * that JSON cannot represent.
 */
export function toStagedEntry(entry: FeedEntry): StagedEntry {
  const text = canonicalize(entry)
  if (text === undefined) throw new TypeError('A log entry must be a JSON value.')
  return {
    seq: entry.seq,
    hash: hashLeaf(text),
    type: entry.type,
    subject: toStoredSubject(entry.subject),
    entry: text,
  }
}

/** Longer than any valid name. */
const subjectCharactersMax = 512

/** Makes any subject that an upstream sends storable and indexable in every database. */
export function toStoredSubject(subject: string): string {
  return withoutNul(subject).slice(0, subjectCharactersMax).toWellFormed()
}

/**
 * Appends entries to the stored log of an upstream before a checkpoint has verified them. Their numbers must follow the
 * `staged` ones; throws a TypeError otherwise. Returns the new size and frontier of the tree.
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
    throw new TypeError(`The entries do not follow the ${row.staged} stored ones.`)
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

/** Deletes the entries after the first `size`, which no checkpoint has verified. */
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

/**
 * The frontier of the first `size` entries: the subtree roots from which the Merkle tree grows. `toRoot` computes the
 * root from it.
 */
export function readUpstreamFrontier(db: Kysely<Tables>, upstream: string, size: number): Promise<Buffer[]> {
  return readFrontier(upstreamReader(db, upstream), size)
}

/** Reads the stored entries of an upstream's log in batches. */
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
