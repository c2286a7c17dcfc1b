import { hourMs, minuteMs } from '../../kernel/clock.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { refreshSkill } from './refresh-skill.ts'

const verifiedSkillsTopic = 'verification.skills'
const verifiedRetryDelaysMs = [minuteMs, 10 * minuteMs, hourMs]
/** Skills per transaction; no other write runs during a transaction. */
const verifiedSkillsPerWrite = 25

/** Handles outbox jobs that refresh the remaining skills of an author. */
export function handleVerifiedSkills(context: CatalogueContext): void {
  context.outbox.handle(verifiedSkillsTopic, {
    retryDelaysMs: verifiedRetryDelaysMs,
    handle: ({ userId, after }) =>
      context.database.writer.write((trx) => refreshVerifiedSkills(context, trx, String(userId), String(after))),
  })
}

/** Updates `verified` on an author's skills: the first batch at once, the rest through the outbox. */
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
    .limit(verifiedSkillsPerWrite)
    .execute()
  const at = context.clock.now()
  for (const before of skills)
    await refreshSkill(context, trx, { skillId: before.id, before, cause: { type: 'judgement' }, at })
  if (skills.length < verifiedSkillsPerWrite) return
  await context.outbox.enqueue(trx, { topic: verifiedSkillsTopic, payload: { userId, after: skills.at(-1)!.id } })
}
