import { RegistryError, toTimestamp } from '@skillstead/protocol'
import { requireAccount, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { SkillRow } from '../storage/tables.ts'
import { changeSkill } from './change-skill.ts'

/** POST /skills/<name>/collaborators/accept: the invited caller becomes a collaborator. */
export async function acceptCollaboration(context: CatalogueContext, input: { name: string }, caller: Caller) {
  const { userId, username } = requireAccount(caller)
  const skill = await findInvitedSkill(context, input.name, userId)
  if (!skill) throw noInvitation(input.name)
  const subject = skill.full_name
  const what = { action: 'skill.collaborator.accept', subject, cause: { type: 'skill' } as const }
  let role: 'read' | 'write' | undefined
  await changeSkill(context, caller, skill, what, async (trx, before) => {
    // Read in this transaction: the invitation may have been withdrawn since. A hidden skill stays as it is.
    const invitation = await trx
      .deleteFrom('invitations')
      .where('skill_id', '=', before.id)
      .where('user_id', '=', userId)
      .returning('role')
      .executeTakeFirst()
    if (!invitation || before.state !== 'live') throw noInvitation(subject)
    role = invitation.role
    await trx.insertInto('collaborators').values({ skill_id: before.id, user_id: userId, role }).execute()
    return true
  })
  return { username, role: role!, status: 'accepted' as const }
}

/** GET /invitations: the skills that the caller is invited to, oldest first. */
export async function listInvitations(context: CatalogueContext, caller: Caller) {
  const { userId } = requireAccount(caller)
  const rows = await context.database.read
    .selectFrom('invitations')
    .innerJoin('skills', 'skills.id', 'invitations.skill_id')
    .select(['skills.full_name', 'skills.owner', 'invitations.role', 'invitations.created_at'])
    .where('invitations.user_id', '=', userId)
    .where('skills.state', '=', 'live')
    .orderBy('invitations.created_at')
    .orderBy('skills.full_name')
    .execute()
  const invitations = rows.map(({ full_name, owner, role, created_at }) => ({
    fullName: full_name,
    owner,
    role,
    createdAt: toTimestamp(created_at),
  }))
  return { invitations, total: invitations.length }
}

/**
 * The skill that a user is invited to, by its full or short name, or undefined. The invited user may not be able to see
 * it otherwise.
 */
export async function findInvitedSkill(
  context: CatalogueContext,
  name: string,
  userId: string,
): Promise<SkillRow | undefined> {
  const skills = await context.database.read
    .selectFrom('invitations')
    .innerJoin('skills', 'skills.id', 'invitations.skill_id')
    .selectAll('skills')
    .where((eb) => eb.or([eb('skills.full_name', '=', name), eb('skills.name', '=', name)]))
    .where('invitations.user_id', '=', userId)
    .where('skills.state', '=', 'live')
    .execute()
  if (skills.length > 1)
    throw new RegistryError('conflict', `You are invited to more than one skill named '${name}'. Use the full name.`)
  return skills[0]
}

function noInvitation(name: string): RegistryError {
  return new RegistryError('not_found', `You have no invitation to '${name}'.`)
}
