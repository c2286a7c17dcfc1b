import { RegistryError, toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import { getPerson, getUserByName } from '../../accounts/find-user.ts'
import { type Caller, callerId, requireAccount } from '../../kernel/caller.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { removeRows } from '../../storage/table-rows.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { changeSkill } from '../skills/change-skill.ts'
import { getSkill } from '../skills/find-skill.ts'
import { requireRight } from '../../visibility/rights.ts'
import { sql } from 'kysely'

/** GET /skills/<name>/collaborators: for the owner and users with write access. */
export const listCollaborators: Operation<'listCollaborators', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'publish')
  const { read } = context.database
  const accepted = sql.lit<'accepted' | 'invited'>('accepted').as('status')
  const invited = sql.lit<'accepted' | 'invited'>('invited').as('status')
  const invitations = read
    .selectFrom('invitations')
    .select(['user_id', 'role', invited])
    .where('skill_id', '=', skill.id)
  const people = read
    .selectFrom('collaborators')
    .select(['user_id', 'role', accepted])
    .where('skill_id', '=', skill.id)
    .unionAll(invitations)
  const rows = await read
    .selectFrom(people.as('people'))
    .innerJoin('users', 'users.id', 'people.user_id')
    .select(['users.username', 'people.role', 'people.status'])
    .execute()
  const collaborators = rows.toSorted((a, b) => (a.username < b.username ? -1 : 1))
  return { collaborators, total: collaborators.length }
}

/** PUT /skills/<name>/collaborators/<username>: invites a user, or changes a collaborator's role. */
export const putCollaborator: Operation<'putCollaborator', CatalogueContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  await requireRight(context.database.read, skill, caller, 'manage')
  const user = await getPerson(context, input.username)
  if (user.id === skill.owner_id)
    throw new RegistryError('conflict', `${user.username} already owns ${skill.full_name}.`)
  const cause = { type: 'skill' } as const
  const what = { action: 'skill.collaborator.put', subject: skill.full_name, right: 'manage', cause } as const
  let status: 'accepted' | 'invited' = 'invited'
  await changeSkill(context, caller, skill, what, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('collaborators')
      .set({ role: input.role })
      .where('skill_id', '=', skill.id)
      .where('user_id', '=', user.id)
      .executeTakeFirst()
    status = numUpdatedRows > 0n ? 'accepted' : 'invited'
    if (status === 'accepted') return true
    const row = { skill_id: skill.id, user_id: user.id, role: input.role, created_at: context.clock.now() }
    await trx
      .insertInto('invitations')
      .values(row)
      .onConflict((conflict) => conflict.columns(['skill_id', 'user_id']).doUpdateSet({ role: input.role }))
      .execute()
    return true
  })
  return { username: user.username, role: input.role, status }
}

/** DELETE /skills/<name>/collaborators/<username>: the owner removes a collaborator, or the user leaves or declines. */
export const deleteCollaborator: Operation<'deleteCollaborator', CatalogueContext> = async (context, input, caller) => {
  const isOwnName = caller.kind === 'user' && caller.username === input.username
  const invited = isOwnName ? await findInvitedSkill(context, input.name, caller.userId) : undefined
  const skill = invited ?? (await getSkill(context, input.name, caller))
  const user = await getUserByName(context, input.username)
  const right = user.id === callerId(caller) ? {} : ({ right: 'manage' } as const)
  const cause = { type: 'skill' } as const
  const what = { action: 'skill.collaborator.delete', subject: skill.full_name, cause, ...right }
  await changeSkill(context, caller, skill, what, async (trx) => {
    const person = { skill_id: skill.id, user_id: user.id }
    const wasInvited = await removeRows(trx, 'invitations', person)
    return (await removeRows(trx, 'collaborators', person)) || wasInvited
  })
}

/** Removes all collaborators and invitations of a skill, for example on a transfer: the former owner chose them. */
export async function removeCollaborators(trx: WriteTransaction, skillId: string): Promise<void> {
  await trx.deleteFrom('collaborators').where('skill_id', '=', skillId).execute()
  await trx.deleteFrom('invitations').where('skill_id', '=', skillId).execute()
}

/** POST /skills/<name>/collaborators/accept: the invited caller becomes a collaborator. */
export const acceptCollaboration: Operation<'acceptCollaboration', CatalogueContext> = async (
  context,
  input,
  caller,
) => {
  const { userId, username } = requireAccount(caller)
  const skill = await findInvitedSkill(context, input.name, userId)
  if (!skill) throw noInvitation(input.name)
  const subject = skill.full_name
  const what = { action: 'skill.collaborator.accept', subject, cause: { type: 'skill' } as const }
  let role: 'read' | 'write' | undefined
  await changeSkill(context, caller, skill, what, async (trx, before) => {
    // The invitation is read in this transaction, because the owner may have withdrawn it. A hidden skill accepts no
    // collaborators.
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
export async function listInvitations(context: StorageContext, caller: Caller) {
  const { userId } = requireAccount(caller)
  const rows = await context.database.read
    .selectFrom('invitations')
    .innerJoin('skills', 'skills.id', 'invitations.skill_id')
    .select(['skills.full_name as fullName', 'skills.owner', 'invitations.role', 'invitations.created_at as createdAt'])
    .where('invitations.user_id', '=', userId)
    .where('skills.state', '=', 'live')
    .orderBy('invitations.created_at')
    .orderBy('skills.full_name')
    .execute()
  const invitations = rows.map((row) => ({ ...row, createdAt: toTimestamp(row.createdAt) }))
  return { invitations, total: invitations.length }
}

/** The skill, by full or short name, that a user is invited to. An invited user may not see the skill otherwise. */
async function findInvitedSkill(context: StorageContext, name: string, userId: string) {
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
