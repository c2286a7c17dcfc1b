import { type Opinion, accountId, type WriteTransaction } from '@skillstead/core/internal'
import { insertWrite, writableKinds, type WriteParts, type WritePayloads } from './upstream-write.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * Queues a star or review of a mirrored skill for its upstream, in the transaction that stores it: as the user if an
 * account is linked, else as the mirror. Without either it is not sent.
 */
export async function queueOpinion(
  trx: WriteTransaction,
  parts: WriteParts,
  { kind, skill, caller, payload }: Opinion,
): Promise<void> {
  if (skill.origin_kind !== 'mirror' || skill.origin_upstream === null || skill.visibility !== 'public') return
  const userId = accountId(caller)
  const upstream = await findUpstream(trx, skill.origin_upstream)
  if (!upstream) return
  const by = (await isLinked(trx, userId, upstream.name)) ? 'user' : 'mirror'
  if (by === 'mirror' && upstream.credential === null) return
  // All users without a linked account share the mirror's star: it stays as long as one of them has starred the skill.
  const said = by === 'mirror' && kind === 'star' ? { starred: await hasStar(trx, skill.id, upstream.name) } : payload
  const whole = { skillId: skill.id, by, ...said } as WritePayloads[typeof kind]
  await insertWrite(trx, parts, { upstream, userId, subject: skill.full_name, kind, payload: whole })
}

/** The upstream of this name if it accepts writes; undefined also if it was removed since the skill was imported. */
export async function findUpstream(trx: WriteTransaction, name: string) {
  const row = await withUpstreams(trx)
    .selectFrom('upstreams')
    .select(['name', 'location', 'kind', 'credential'])
    .where('name', '=', name)
    .executeTakeFirst()
  return row && writableKinds.has(row.kind) ? row : undefined
}

async function isLinked(trx: WriteTransaction, userId: string | null, upstream: string): Promise<boolean> {
  if (userId === null) return false
  const link = await withUpstreams(trx)
    .selectFrom('upstream_links')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('upstream', '=', upstream)
    .executeTakeFirst()
  return link !== undefined
}

/** Whether a user without a linked account has starred the skill. */
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
