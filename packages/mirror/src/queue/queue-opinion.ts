import { type Opinion, accountId, type WriteTransaction } from '@skillstead/core/internal'
import { insertWrite, writableKinds, type WriteParts, type WritePayloads } from './upstream-write.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * Keeps a star or a review of a mirrored skill for the upstream that it came from, in the transaction that stores it: in
 * the user's own name there where an account is linked, else in the mirror's. Without either it stays here.
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
  // For all whom the mirror speaks for there is one star: it stays as long as one of them has it.
  const said = by === 'mirror' && kind === 'star' ? { starred: await hasStar(trx, skill.id, upstream.name) } : payload
  const whole = { skillId: skill.id, by, ...said } as WritePayloads[typeof kind]
  await insertWrite(trx, parts, { upstream, userId, subject: skill.full_name, kind, payload: whole })
}

/** The upstream of a name, where it is one that takes writes; it may have been removed since the skill came from there. */
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

/** Whether one of those who have no account of their own there gave a star. */
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
