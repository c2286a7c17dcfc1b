import type { MirroredInstalls, WriteTransaction } from '@skillstead/core/internal'
import { findUpstream } from './queue-opinion.ts'
import { insertWrite, type WriteParts, type WritePayloads } from './upstream-write.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** Maximum number of installs in one write, so that later writes of the skill do not wait long. */
const countMax = 500

/** Queues installs of mirrored skills for their upstreams, in the transaction that records them. */
export async function queueInstalls(
  trx: WriteTransaction,
  parts: WriteParts,
  installs: Iterable<MirroredInstalls>,
): Promise<void> {
  for (const { upstream: name, fullName, skillId, count } of installs) {
    const upstream = await findUpstream(trx, name)
    if (!upstream) continue
    let left = await addToNewest(trx, { upstream: name, fullName, skillId, count })
    for (; left > 0; left -= countMax) {
      const payload = { skillId, by: 'guest', count: Math.min(left, countMax) } as const
      await insertWrite(trx, parts, { upstream, userId: null, subject: fullName, kind: 'track', payload })
    }
  }
}

/** Adds installs to the last pending write of the skill, if it has not been attempted. Returns how many are left. */
async function addToNewest(trx: WriteTransaction, installs: MirroredInstalls): Promise<number> {
  const newest = await withUpstreams(trx)
    .selectFrom('upstream_writes')
    .select(['id', 'kind', 'payload', 'attempts'])
    .where('upstream', '=', installs.upstream)
    .where('state', '=', 'pending')
    .where('subject', '=', installs.fullName)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest?.kind !== 'track' || newest.attempts > 0) return installs.count
  const payload = JSON.parse(newest.payload) as WritePayloads['track']
  const added = Math.max(0, Math.min(installs.count, countMax - payload.count))
  if (payload.skillId !== installs.skillId || added === 0) return installs.count
  const more = JSON.stringify({ ...payload, count: payload.count + added })
  await withUpstreams(trx).updateTable('upstream_writes').set({ payload: more }).where('id', '=', newest.id).execute()
  return installs.count - added
}
