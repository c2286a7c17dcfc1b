import { type Moderation, toTimestamp } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import type { SkillRow } from '../storage/tables.ts'
import { getDecidedSkill } from './find-any-skill.ts'
import { selectReports, toReport } from './report-form.ts'

/** The maximum number of appeals and of cases shown, newest first. */
const shownMax = 100

/** GET /skills/<name>/moderation: for the owner and administrators, even if no one else may read the skill. */
export async function getModeration(
  context: GovernanceContext,
  input: { name: string },
  caller: Caller,
): Promise<Moderation> {
  return showModeration(context, await getDecidedSkill(context, input.name, caller))
}

/** The moderation state of a skill, its owner's appeals and its takedown cases; without the reporters. */
export async function showModeration(context: GovernanceContext, skill: SkillRow): Promise<Moderation> {
  const db = context.database.read
  const appeals = await selectReports(db)
    .where('reports.skill_id', '=', skill.id)
    .where('reports.kind', '=', 'appeal')
    // Appeals of a former owner are not shown to the next one.
    .where('reports.reporter_id', '=', skill.owner_id)
    .orderBy('reports.id', 'desc')
    .limit(shownMax)
    .execute()
  const cases = await db
    .selectFrom('dmca_cases')
    .select(['id', 'status', 'submitted_at'])
    .where('skill_id', '=', skill.id)
    .orderBy('id', 'desc')
    .limit(shownMax)
    .execute()
  return {
    skill: { id: skill.id, fullName: skill.full_name },
    state: skill.moderation,
    reason: skill.moderation_reason,
    decidedAt: skill.moderated_at === null ? null : toTimestamp(skill.moderated_at),
    appeals: appeals.map(toReport),
    cases: cases.map(({ id, status, submitted_at }) => ({ id, status, submittedAt: toTimestamp(submitted_at) })),
  }
}
