import { RegistryError, isVersion, type FieldError } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { findReadableSkill } from './find-skill.ts'
import { getVersion } from './read-skill.ts'

/** A member as named in a request. */
export type MemberInput = string | { name: string; version?: string; note?: string }

/** A member with its skill. */
export interface Member {
  readonly skillId: string
  readonly fullName: string
  readonly isPublic: boolean
  readonly pinnedVersion: string | null
  readonly note: string
}

/**
 * Finds all members. Throws `invalid_request` that names each one that the caller cannot see or that is listed twice.
 */
export async function resolveMembers(
  context: CatalogueContext,
  inputs: readonly MemberInput[],
  caller: Caller,
): Promise<Member[]> {
  const members: Member[] = []
  const errors: FieldError[] = []
  for (const [i, input] of inputs.entries()) {
    const wanted = typeof input === 'string' ? { name: input } : input
    const member = await findMember(context, wanted, caller)
    if (typeof member === 'string') errors.push({ path: `skills.${i}`, message: member })
    else if (members.some(({ skillId }) => skillId === member.skillId))
      errors.push({ path: `skills.${i}`, message: `names ${member.fullName} a second time.` })
    else members.push(member)
  }
  if (errors.length > 0) {
    throw new RegistryError('invalid_request', errors.map(({ path, message }) => `${path} ${message}`).join(' '), {
      errors,
    })
  }
  return members
}

async function findMember(
  context: CatalogueContext,
  wanted: { name: string; version?: string; note?: string },
  caller: Caller,
): Promise<Member | string> {
  const skill = await findReadableSkill(context, wanted.name, caller)
  if (!skill) return `'${wanted.name}' is no skill that you may see.`
  if (wanted.version !== undefined) {
    if (!isVersion(wanted.version))
      return `has '${wanted.version}' for a version; three numbers are needed, such as 1.4.0.`
    const version = await getVersion(context, skill, wanted.version).catch(() => undefined)
    if (!version) return `pins ${skill.full_name}@${wanted.version}, which there is not.`
  }
  return {
    skillId: skill.id,
    fullName: skill.full_name,
    isPublic: skill.visibility === 'public' && skill.state === 'live',
    pinnedVersion: wanted.version ?? null,
    note: wanted.note ?? '',
  }
}
