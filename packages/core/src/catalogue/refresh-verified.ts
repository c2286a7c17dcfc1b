import type { CatalogueContext } from './catalogue-context.ts'
import { refreshSkill } from './refresh-skill.ts'
import type { WriteTransaction } from '../storage/writer.ts'

const topic = 'verification.skills'
const minuteMs = 60_000
const retryDelaysMs = [minuteMs, 10 * minuteMs, 60 * minuteMs]
/** Skills of one transaction, which nothing else is written beside. */
const sliceSkills = 25

/** Takes the rest of authors' skills from the outbox. */
export function handleVerifiedSkills(context: CatalogueContext): void {
  context.outbox.handle(topic, {
    retryDelaysMs,
    handle: ({ userId, after }) =>
      context.database.writer.write((trx) => refreshVerifiedSkills(context, trx, String(userId), String(after))),
  })
}

/**
 * Brings the mark `verified` of an author's skills up to date after the author was verified, or no longer is: the first
 * ones at once, the rest from the outbox.
 */
export async function refreshVerifiedSkills(
  context: CatalogueContext,
  trx: WriteTransaction,
  userId: string,
  after = '',
): Promise<void> {
  const skills = await trx
    .selectFrom('skills')
    .selectAll()
    .where('owner_id', '=', userId)
    .where('state', '!=', 'withdrawn')
    .where('latest_version', '!=', '')
    .where('id', '>', after)
    .orderBy('id')
    .limit(sliceSkills)
    .execute()
  const at = context.clock.now()
  for (const before of skills)
    await refreshSkill(context, trx, { skillId: before.id, before, cause: { type: 'judgement' }, at })
  if (skills.length < sliceSkills) return
  await context.outbox.enqueue(trx, { topic, payload: { userId, after: skills.at(-1)!.id } })
}
