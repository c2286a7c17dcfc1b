import type { StorageContext } from '../storage/storage-context.ts'
import { requireUser, type Caller } from '../kernel/caller.ts'
import { getSkill, selectByFullName, selectByHolder } from '../catalogue/skills/find-skill.ts'
import { findForkSource } from '../catalogue/skills/show-details.ts'
import { hasRight, isAdministrator, requireRight } from '../visibility/rights.ts'
import type { SkillRow } from '../storage/tables.ts'

/** Finds a skill in any state for its owner or an administrator. Throws like {@link getSkill} for other callers. */
export async function getDecidedSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  return (await findDecidedSkill(context, ref, caller)) ?? refuseAsReader(context, ref, caller)
}

/** Finds a skill in any state for its owner or an administrator; undefined for other callers. */
export async function findDecidedSkill(context: StorageContext, ref: string, caller: Caller) {
  if (caller.kind === 'guest') return undefined
  const skill = await findAnySkill(context, ref, caller)
  if (!skill) return undefined
  const isDecider = isAdministrator(caller) || (await hasRight(context.database.read, skill, caller, 'manage'))
  return isDecider ? skill : undefined
}

/**
 * Finds a skill that the caller may manage, even if it is hidden or under a takedown. Throws like {@link getSkill}, or
 * `forbidden`.
 */
export async function getOwnSkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await findAnySkill(context, ref, caller)
  if (skill && (await hasRight(context.database.read, skill, caller, 'manage'))) return skill
  return refuseAsReader(context, ref, caller)
}

/** Throws the error that the caller would get by reading the skill. */
async function refuseAsReader(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await getSkill(context, ref, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  return skill
}

/** Finds a skill by its current or former full name, or by its short name. The caller must check permissions. */
async function findAnySkill(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow | undefined> {
  const named = ref.includes('/')
    ? await findForkSource(context.database.read, ref)
    : await findByShortName(context, ref, caller)
  return named?.state === 'withdrawn' ? undefined : named
}

/** The caller's own skill takes precedence over another skill with that short name, as in every lookup. */
async function findByShortName(context: StorageContext, name: string, caller: Caller): Promise<SkillRow | undefined> {
  const { read } = context.database
  const [own] = await selectByFullName(read, { fullName: `${requireUser(caller).username}/${name}` })
  if (own && own.state !== 'withdrawn') return own
  return (await selectByHolder(read, { name }))[0]
}
