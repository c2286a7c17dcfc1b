import type { Kysely } from 'kysely'
import type { Provenance } from '@skillstead/protocol'
import { proveIn, type SkillRow, type Tables } from '@skillstead/core/internal'
import { upstreamReader } from './upstream-tree.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * The proof that an upstream's log contains a version of a mirrored skill; undefined if the upstream has no log, or the
 * version is not from it.
 */
export async function proveVersion(
  db: Kysely<Tables>,
  { origin_upstream: upstream }: Pick<SkillRow, 'origin_upstream'>,
  subject: string,
): Promise<NonNullable<Provenance['log']> | undefined> {
  if (upstream === null) return undefined
  // Read from both tables in one query, so that the checkpoint covers the entry.
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
