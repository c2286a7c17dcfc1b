import type { Kysely } from 'kysely'
import {
  type Tables,
  findTreeProblem,
  type CheckedTree,
  toRoot,
  readFrontier,
  splitHashes,
} from '@skillstead/core/internal'
import { type UpstreamRow, withUpstreams } from '../tables/mirror-tables.ts'
import { upstreamReader, upstreamTree } from './upstream-tree.ts'

type Db = Kysely<Tables>

/**
 * Compares the local copy of an upstream's log with its entries and the verified checkpoint. Returns the first
 * mismatch.
 */
export async function checkUpstreamLog(db: Db, upstream: UpstreamRow): Promise<string | undefined> {
  const { name, staged, verified, applied, frontier } = upstream
  if (!(applied <= verified && verified <= staged)) {
    return `Its counters contradict each other: ${staged} entries stored, ${verified} verified, ${applied} applied.`
  }
  const problem = await findTreeProblem(db, { size: staged, frontier: splitHashes(frontier) }, treeOf(name))
  return problem ?? (await findExcess(db, upstream)) ?? findCheckpointProblem(db, upstream)
}

function treeOf(upstream: string): CheckedTree<Awaited<ReturnType<typeof readRows>>[number]> {
  return {
    name: "Its log's",
    rows: upstreamTree(upstream),
    readRows: (db, after, end) => readRows(db, upstream, after, end),
    matchesColumns: ({ seq, type, entry }) => {
      const said = JSON.parse(entry) as Record<string, unknown>
      return said['seq'] === seq && said['type'] === type
    },
  }
}

function readRows(db: Db, upstream: string, after: number, end: number) {
  return withUpstreams(db)
    .selectFrom('upstream_log')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('seq', '>', after)
    .where('seq', '<=', end)
    .orderBy('seq')
    .execute()
}

async function findExcess(db: Db, { name, staged }: UpstreamRow): Promise<string | undefined> {
  const row = await withUpstreams(db)
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', name)
    .where((eb) => eb.or([eb('seq', '>', staged), eb('seq', '<', 1)]))
    .executeTakeFirst()
  return row && `Its log has an entry ${row.seq}, but its size is recorded as ${staged}.`
}

/** A checkpoint names the log, its size and its root in its first three lines (C2SP tlog-checkpoint). */
async function findCheckpointProblem(db: Db, { name, verified, checkpoint }: UpstreamRow): Promise<string | undefined> {
  if (checkpoint === null)
    return verified > 0 ? 'Its entries are marked as verified, but no checkpoint is stored.' : undefined
  const [, size = '', root] = checkpoint.split('\n')
  if (Number(size) < verified) return `${verified} entries are marked as verified, but the checkpoint covers ${size}.`
  if (Number(size) > verified) return undefined
  const frontier = await readFrontier(upstreamReader(db, name), verified)
  return toRoot(frontier).toString('base64') === root ? undefined : 'Its entries do not match its checkpoint.'
}
