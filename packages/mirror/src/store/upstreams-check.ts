import { attempt } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import {
  type ExtensionCheck,
  parseJson,
  type Tables,
  findTreeProblem,
  type CheckedTree,
  toRoot,
  readFrontier,
  splitHashes,
} from '@skillstead/core/internal'
import { type UpstreamRow, withUpstreams } from '../tables/mirror-tables.ts'
import { selectUpstreamEntries, upstreamReader, upstreamTree } from './upstream-log.ts'

/** Checks the stored logs of upstreams against the checkpoints that the upstreams signed. */
export const upstreamsCheck: ExtensionCheck = {
  name: 'mirrors',
  async run(db, { progress, fault }) {
    const upstreams = await withUpstreams(db).selectFrom('upstreams').selectAll().orderBy('name').execute()
    for (const upstream of upstreams) {
      progress(upstream.name)
      const problem = await checkUpstreamLog(db, upstream)
      if (problem) fault(`Upstream ${upstream.name}: ${problem}`)
      const { settings, keys, cursor, report } = upstream
      if (attempt(() => [settings, keys, cursor, report].map((text): unknown => JSON.parse(text))) === undefined)
        fault(`Upstream ${upstream.name}: its row contains invalid JSON.`)
    }
    const alarms = upstreams.filter(({ alarm }) => alarm !== null).length
    const also = alarms === 0 ? '' : ` ${alarms} are paused. See mirror status.`
    return {
      sound:
        upstreams.length === 0
          ? 'There are no upstreams.'
          : `The stored logs of ${upstreams.length} upstreams match their signed checkpoints.${also}`,
      advice: 'Remove the upstream with mirror remove and add it again: mirrored skills stay and are verified again.',
    }
  },
}

type Db = Kysely<Tables>

/** Compares the stored log of an upstream with its tree and the verified checkpoint. Returns the first mismatch. */
async function checkUpstreamLog(db: Db, upstream: UpstreamRow): Promise<string | undefined> {
  const { name, staged, verified, applied, frontier } = upstream
  if (!(applied <= verified && verified <= staged)) {
    return `Its counters contradict each other: ${staged} entries stored, ${verified} verified, ${applied} applied.`
  }
  const problem = await findTreeProblem(db, { size: staged, frontier: splitHashes(frontier) }, treeOf(name))
  return problem ?? (await findStagedExcess(db, upstream)) ?? findCheckpointProblem(db, upstream)
}

function treeOf(upstream: string): CheckedTree<Awaited<ReturnType<typeof readUpstreamRows>>[number]> {
  return {
    name: "Its log's",
    rows: upstreamTree(upstream),
    readRows: (db, after, end) => readUpstreamRows(db, upstream, after, end),
    matchesColumns: ({ seq, type, entry }) => {
      const fields = parseJson(entry)
      return fields['seq'] === seq && fields['type'] === type
    },
  }
}

function readUpstreamRows(db: Db, upstream: string, after: number, until: number) {
  return selectUpstreamEntries(db, upstream, { after, until }).selectAll().execute()
}

async function findStagedExcess(db: Db, { name, staged }: UpstreamRow): Promise<string | undefined> {
  const row = await withUpstreams(db)
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', name)
    .where((eb) => eb.or([eb('seq', '>', staged), eb('seq', '<', 1)]))
    .executeTakeFirst()
  return row && `Its log has an entry ${row.seq}, but its size is recorded as ${staged}.`
}

/** Compares the verified entries with the checkpoint. Its first lines: name, size, root (C2SP tlog-checkpoint). */
async function findCheckpointProblem(db: Db, { name, verified, checkpoint }: UpstreamRow): Promise<string | undefined> {
  if (checkpoint === null)
    return verified > 0 ? 'Its entries are marked as verified, but no checkpoint is stored.' : undefined
  const [, size = '', root] = checkpoint.split('\n')
  if (Number(size) < verified) return `${verified} entries are marked as verified, but the checkpoint covers ${size}.`
  if (Number(size) > verified) return undefined
  const frontier = await readFrontier(upstreamReader(db, name), verified)
  return toRoot(frontier).toString('base64') === root ? undefined : 'Its entries do not match its checkpoint.'
}
