import { RegistryError } from '@skillstead/protocol'
import { getUserByName } from '../accounts/find-user.ts'
import { callerId, type Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { changeSkill } from './change-skill.ts'
import { getSkill } from './find-skill.ts'
import { canWrite, requireOwner } from './visibility.ts'

type Role = 'read' | 'write'

/** GET /skills/<name>/collaborators: for the owner and those who may write. */
export async function listCollaborators(context: Context, input: { name: string }, caller: Caller) {
  const skill = await getSkill(context, input.name, caller)
  if (!(await canWrite(context.database.read, skill, caller))) requireOwner(skill, caller)
  const collaborators = await context.database.read
    .selectFrom('collaborators')
    .innerJoin('users', 'users.id', 'collaborators.user_id')
    .select(['users.username', 'collaborators.role'])
    .where('skill_id', '=', skill.id)
    .orderBy('users.username')
    .execute()
  return { collaborators, total: collaborators.length }
}

/** PUT /skills/<name>/collaborators/<username>: gives a role, or another one. */
export async function putCollaborator(
  context: Context,
  input: { name: string; username: string; role: Role },
  caller: Caller,
) {
  const skill = await getSkill(context, input.name, caller)
  requireOwner(skill, caller)
  const user = await getUserByName(context, input.username)
  if (user.id === skill.owner_id)
    throw new RegistryError('conflict', `${user.username} owns ${skill.full_name} and may do everything.`)
  const what = { action: 'skill.collaborator.put', subject: skill.full_name, deed: { type: 'skill' } as const }
  await changeSkill(context, caller, skill, what, async (trx) => {
    const row = { skill_id: skill.id, user_id: user.id, role: input.role }
    await trx
      .insertInto('collaborators')
      .values(row)
      .onConflict((conflict) => conflict.columns(['skill_id', 'user_id']).doUpdateSet({ role: input.role }))
      .execute()
    return true
  })
  return { username: user.username, role: input.role }
}

/** DELETE /skills/<name>/collaborators/<username>: by the owner, or by the collaborator, who may leave. */
export async function deleteCollaborator(
  context: Context,
  input: { name: string; username: string },
  caller: Caller,
): Promise<undefined> {
  const skill = await getSkill(context, input.name, caller)
  const user = await getUserByName(context, input.username)
  if (user.id !== callerId(caller)) requireOwner(skill, caller)
  const what = { action: 'skill.collaborator.delete', subject: skill.full_name, deed: { type: 'skill' } as const }
  await changeSkill(context, caller, skill, what, async (trx) => {
    const gone = await trx
      .deleteFrom('collaborators')
      .where('skill_id', '=', skill.id)
      .where('user_id', '=', user.id)
      .returning('user_id')
      .execute()
    return gone.length > 0
  })
}
