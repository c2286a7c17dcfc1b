import { type MirroredInstalls, type Opinion, accountId, type WriteTransaction } from '@skillstead/core/internal'
import { insertWrite, writableKinds, type WriteParts, type WritePayloads } from './upstream-write.ts'
import { withUpstreams, selectLink } from '../tables/mirror-tables.ts'

/**
 * Queues a star or review of a mirrored skill for its upstream, in the transaction that stores it. It is sent as the
 * user, if the user linked an account, else as the mirror. Without a linked account and without an API key of the
 * mirror, it is not sent.
 */
export async function queueOpinion(
  trx: WriteTransaction,
  parts: WriteParts,
  { kind, skill, caller, payload }: Opinion,
): Promise<void> {
  if (skill.origin_kind !== 'mirror' || skill.origin_upstream === null || skill.visibility !== 'public') return
  const userId = accountId(caller)
  const upstream = await findWritableUpstream(trx, skill.origin_upstream)
  if (!upstream) return
  const by = (await hasLinkedAccount(trx, userId, upstream.name)) ? 'user' : 'mirror'
  if (by === 'mirror' && upstream.credential === null) return
  // All users without a linked account share the star of the mirror's account, which stays as long as one of them stars
  // the skill.
  const shared = by === 'mirror' && kind === 'star' ? { starred: await hasStar(trx, skill.id, upstream.name) } : payload
  const whole = { skillId: skill.id, by, ...shared } as WritePayloads[typeof kind]
  await insertWrite(trx, parts, { upstream, userId, subject: skill.full_name, kind, payload: whole })
}

/** The upstream of this name if it accepts writes; undefined if not, or if it was removed since the import. */
async function findWritableUpstream(trx: WriteTransaction, name: string) {
  const row = await withUpstreams(trx)
    .selectFrom('upstreams')
    .select(['name', 'location', 'kind', 'credential'])
    .where('name', '=', name)
    .executeTakeFirst()
  return row && writableKinds.has(row.kind) ? row : undefined
}

async function hasLinkedAccount(trx: WriteTransaction, userId: string | null, upstream: string): Promise<boolean> {
  if (userId === null) return false
  return (await selectLink(trx, upstream, userId).select('user_id').executeTakeFirst()) !== undefined
}

/** Whether any user without a linked account has starred the skill. */
async function hasStar(trx: WriteTransaction, skillId: string, upstream: string): Promise<boolean> {
  const star = await withUpstreams(trx)
    .selectFrom('stars')
    .select('user_id')
    .where('skill_id', '=', skillId)
    .where('user_id', 'not in', (eb) =>
      eb.selectFrom('upstream_links').select('user_id').where('upstream', '=', upstream),
    )
    .limit(1)
    .executeTakeFirst()
  return star !== undefined
}

/** Maximum number of installs that one write sends, so that later writes of the skill do not wait long. */
const countMax = 500

/** Queues installs of mirrored skills for their upstreams, in the transaction that records them. */
export async function queueInstalls(
  trx: WriteTransaction,
  parts: WriteParts,
  installs: Iterable<MirroredInstalls>,
): Promise<void> {
  for (const { upstream: name, fullName, skillId, count } of installs) {
    const upstream = await findWritableUpstream(trx, name)
    if (!upstream) continue
    let left = await addToNewest(trx, { upstream: name, fullName, skillId, count })
    for (; left > 0; left -= countMax) {
      const payload = { skillId, by: 'guest', count: Math.min(left, countMax) } as const
      await insertWrite(trx, parts, { upstream, userId: null, subject: fullName, kind: 'track', payload })
    }
  }
}

/**
 * Adds installs to the last pending write of the skill, if this write sends installs and was not attempted yet. Returns
 * the number of installs that did not fit.
 */
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
  const payload: WritePayloads['track'] = JSON.parse(newest.payload)
  const added = Math.max(0, Math.min(installs.count, countMax - payload.count))
  if (payload.skillId !== installs.skillId || added === 0) return installs.count
  const more = JSON.stringify({ ...payload, count: payload.count + added })
  await withUpstreams(trx).updateTable('upstream_writes').set({ payload: more }).where('id', '=', newest.id).execute()
  return installs.count - added
}
