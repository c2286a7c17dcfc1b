import { requireUser, type Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { getSkill } from '../catalogue/find-skill.ts'
import { findSource } from '../catalogue/show-details.ts'
import { isAdministrator, isOwner, requireOwner } from '../catalogue/visibility.ts'
import type { SkillRow } from '../storage/tables.ts'

/** The skill of a name for those who decide about it, whatever others may see of it; throws as {@link getSkill}. */
export async function getDecidedSkill(context: GovernanceContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await findAnySkill(context, ref, caller)
  return skill && (isOwner(skill, caller) || isAdministrator(caller)) ? skill : refuse(context, ref, caller)
}

/** The caller's own skill, also hidden or under a takedown; throws as {@link getSkill}, or `forbidden`. */
export async function getOwnSkill(context: GovernanceContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await findAnySkill(context, ref, caller)
  return skill && isOwner(skill, caller) ? skill : refuse(context, ref, caller)
}

/** What a caller is told who is neither: no more than by reading the skill. */
async function refuse(context: GovernanceContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await getSkill(context, ref, caller)
  requireOwner(skill, caller)
  return skill
}

/** By full name, now or before a transfer, or as a holder; whoever calls sees to it who may know. */
async function findAnySkill(context: GovernanceContext, ref: string, caller: Caller): Promise<SkillRow | undefined> {
  const named = ref.includes('/')
    ? await findSource(context.database.read, ref)
    : await findByShortName(context, ref, caller)
  return named?.state === 'withdrawn' ? undefined : named
}

/** As everywhere, the caller's own skill comes before that of the holder. */
async function findByShortName(
  context: GovernanceContext,
  name: string,
  caller: Caller,
): Promise<SkillRow | undefined> {
  const own = await context.database.read
    .selectFrom('skills')
    .selectAll()
    .where('owner_id', '=', requireUser(caller).userId)
    .where('name', '=', name)
    .where('skills.state', '!=', 'withdrawn')
    .executeTakeFirst()
  if (own) return own
  return context.database.read
    .selectFrom('holders')
    .innerJoin('skills', 'skills.id', 'holders.skill_id')
    .selectAll('skills')
    .where('holders.name', '=', name)
    .where('skills.state', '!=', 'withdrawn')
    .executeTakeFirst()
}
