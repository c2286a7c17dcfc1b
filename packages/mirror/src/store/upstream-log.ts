import canonicalize from 'canonicalize'
import type { Kysely } from 'kysely'
import {
  growTree,
  hashLeaf,
  proveIn,
  type SkillRow,
  type TreeReader,
  type TreeRows,
  compileInsert,
  type LogRange,
  type LogText,
  readFrontier,
  readLogInBatches,
  splitHashes,
  type Tables,
  tileHashes,
  withoutNul,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { Provenance } from '@skillstead/protocol'
import type { FeedEntry } from '../types.ts'
import { withUpstreams, type MirrorTables } from '../tables/mirror-tables.ts'

/** An entry that is ready to be staged (stored unverified): its number, its bytes and their hash. */
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

/** Maximum length of a stored subject, which is longer than any valid name. */
const subjectCharactersMax = 512

/** Converts any subject that an upstream sends to a text that SQLite and PostgreSQL can store and index. */
export function toStoredSubject(subject: string): string {
  return withoutNul(subject).slice(0, subjectCharactersMax).toWellFormed()
}

/**
 * Appends entries to the stored log of an upstream before a checkpoint has verified them. Their numbers must follow
 * that of the last staged entry; throws a TypeError otherwise. Returns the new size and frontier of the tree.
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
    throw new TypeError(`The new entries do not directly follow the ${row.staged} stored entries.`)
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

const insertEntries = compileInsert<'upstream_log', MirrorTables>('upstream_log')

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
 * root of the tree from the frontier.
 */
export function readUpstreamFrontier(db: Kysely<Tables>, upstream: string, size: number): Promise<Buffer[]> {
  return readFrontier(upstreamReader(db, upstream), size)
}

/** Reads the stored entries of an upstream's log in batches. */
export function readUpstreamTexts(db: Kysely<Tables>, upstream: string, range: LogRange): AsyncGenerator<LogText[]> {
  return readLogInBatches(upstream, range, (batch) =>
    selectUpstreamEntries(db, upstream, batch).select(['seq', 'type', 'entry']).execute(),
  )
}

/** Selects the stored entries of an upstream's log after position `after` up to `until`, in order. */
export function selectUpstreamEntries(db: Kysely<Tables>, upstream: string, { after, until }: LogRange) {
  return withUpstreams(db)
    .selectFrom('upstream_log')
    .where('upstream', '=', upstream)
    .where('seq', '>', after)
    .where('seq', '<=', until)
    .orderBy('seq')
}

/**
 * The proof that an upstream's log contains a version of a mirrored skill. Undefined if the upstream has no log, or the
 * version is not in it.
 */
export async function proveMirroredVersion(
  db: Kysely<Tables>,
  { origin_upstream: upstream }: Pick<SkillRow, 'origin_upstream'>,
  subject: string,
): Promise<NonNullable<Provenance['log']> | undefined> {
  if (upstream === null) return undefined
  // One query reads both tables, so that the checkpoint covers the entry.
  const row = await withUpstreams(db)
    .selectFrom('upstreams')
    .innerJoin('upstream_log', 'upstream_log.upstream', 'upstreams.name')
    .select(['seq', 'entry', 'log_origin', 'verified', 'checkpoint'])
    .where('upstreams.name', '=', upstream)
    .where('subject', '=', subject)
    .where('type', '=', 'version')
    .whereRef('seq', '<=', 'applied')
    .whereRef('seq', '<=', 'verified')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row?.checkpoint || row.log_origin === null) return undefined
  const proof = await proveIn(upstreamReader(db, upstream), row.seq - 1, row.verified)
  return { origin: row.log_origin, ...proof, checkpoint: row.checkpoint, entry: row.entry }
}

/** A reader of the log from which a mirrored skill was imported; undefined for other skills. */
export function upstreamReaderOf(
  db: Kysely<Tables>,
  { origin_upstream: upstream }: Pick<SkillRow, 'origin_upstream'>,
): TreeReader | undefined {
  return upstream === null ? undefined : upstreamReader(db, upstream)
}

/** The stored Merkle tree of an upstream's log. */
export function upstreamTree(upstream: string): TreeRows {
  return {
    readLeaves: (db, start, count) =>
      selectUpstreamEntries(db, upstream, { after: start, until: start + count })
        .select('hash')
        .execute(),
    readRoots: (db, level, start, count) =>
      withUpstreams(db)
        .selectFrom('upstream_tiles')
        .select('root')
        .where('upstream', '=', upstream)
        .where('level', '=', level)
        .where('n', '>=', start)
        .where('n', '<', start + count)
        .orderBy('n')
        .execute(),
    readTiles: (db, refs) =>
      withUpstreams(db)
        .selectFrom('upstream_tiles')
        .selectAll()
        .where('upstream', '=', upstream)
        .where((eb) => eb.or(refs.map(({ level, n }) => eb.and([eb('level', '=', level), eb('n', '=', n)]))))
        .execute(),
    putTile: (db, tile) =>
      withUpstreams(db)
        .insertInto('upstream_tiles')
        .values({ ...tile, upstream })
        .execute(),
    readNewest: (db, { type, subject, treeSize, part }) =>
      selectUpstreamEntries(db, upstream, { after: 0, until: treeSize })
        .select(['seq', 'entry'])
        .where('subject', '=', subject)
        .where('type', '=', type)
        .where('entry', 'like', `%${part}%`)
        .clearOrderBy()
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst(),
  }
}

/** A reader of an upstream's tree, without a cache, because the stored log may be replaced by another log. */
export function upstreamReader(db: Kysely<Tables>, upstream: string): TreeReader {
  return { db, rows: upstreamTree(upstream), tiles: new Map() }
}
