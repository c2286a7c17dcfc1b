import type { Kysely } from 'kysely'
import {
  type UpstreamRow,
  type Tables,
  findTreeProblem,
  type CheckedTree,
  toRoot,
  readFrontier,
  splitHashes,
} from '@skillstead/core/internal'
import { upstreamReader, upstreamTree } from './upstream-tree.ts'

type Db = Kysely<Tables>

/** What of an upstream's log is stored otherwise than its entries make it, or than the checkpoint says that was verified. */
export async function checkUpstreamLog(db: Db, upstream: UpstreamRow): Promise<string | undefined> {
  const { name, staged, verified, applied, frontier } = upstream
  if (!(applied <= verified && verified <= staged)) {
    return `It has ${staged} entries here, ${verified} of them verified and ${applied} applied, which cannot be.`
  }
  const problem = await findTreeProblem(db, { size: staged, frontier: splitHashes(frontier) }, treeOf(name))
  return problem ?? (await findExcess(db, upstream)) ?? findCheckpointProblem(db, upstream)
}

function treeOf(upstream: string): CheckedTree<Awaited<ReturnType<typeof readRows>>[number]> {
  return {
    name: "Its log's",
    rows: upstreamTree(upstream),
    readRows: (db, after, end) => readRows(db, upstream, after, end),
    isSaidBeside: ({ seq, type, entry }) => {
      const said = JSON.parse(entry) as Record<string, unknown>
      return said['seq'] === seq && said['type'] === type
    },
  }
}

function readRows(db: Db, upstream: string, after: number, end: number) {
  return db
    .selectFrom('upstream_log')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('seq', '>', after)
    .where('seq', '<=', end)
    .orderBy('seq')
    .execute()
}

async function findExcess(db: Db, { name, staged }: UpstreamRow): Promise<string | undefined> {
  const row = await db
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', name)
    .where((eb) => eb.or([eb('seq', '>', staged), eb('seq', '<', 1)]))
    .executeTakeFirst()
  return row && `Its log has an entry ${row.seq} here, and is said to have ${staged}.`
}

/** A checkpoint names the log, its size and its root in its first three lines (C2SP tlog-checkpoint). */
async function findCheckpointProblem(db: Db, { name, verified, checkpoint }: UpstreamRow): Promise<string | undefined> {
  if (checkpoint === null) return verified > 0 ? 'Its entries are said to be verified, by no checkpoint.' : undefined
  const [, size = '', root] = checkpoint.split('\n')
  if (Number(size) < verified) return `${verified} entries are said to be verified, by a checkpoint of ${size}.`
  if (Number(size) > verified) return undefined
  const frontier = await readFrontier(upstreamReader(db, name), verified)
  return toRoot(frontier).toString('base64') === root
    ? undefined
    : 'Its entries are not those that its checkpoint vouches for.'
}
