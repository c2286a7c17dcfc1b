import { RegistryError } from '@skillstead/protocol'
import { getUserByName } from '../accounts/find-user.ts'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { changeSkill } from './change-skill.ts'
import { getSkill } from './find-skill.ts'
import { findInvitedSkill } from './invitations.ts'
import { canWrite, requireOwner } from './visibility.ts'

type Role = 'read' | 'write'

/** GET /skills/<name>/collaborators: for the owner and users with write access. */
export async function listCollaborators(context: CatalogueContext, input: { name: string }, caller: Caller) {
  const skill = await getSkill(context, input.name, caller)
  if (!(await canWrite(context.database.read, skill, caller))) requireOwner(skill, caller)
  const [accepted, invited] = await Promise.all([
    readPeople(context, 'collaborators', skill.id),
    readPeople(context, 'invitations', skill.id),
  ])
  const collaborators = [
    ...accepted.map((person) => ({ ...person, status: 'accepted' as const })),
    ...invited.map((person) => ({ ...person, status: 'invited' as const })),
  ].toSorted((a, b) => (a.username < b.username ? -1 : 1))
  return { collaborators, total: collaborators.length }
}

function readPeople({ database }: CatalogueContext, table: 'collaborators' | 'invitations', skillId: string) {
  return (
    database.read
      // Both tables have the columns read here.
      .selectFrom(`${table as 'collaborators'} as people`)
      .innerJoin('users', 'users.id', 'people.user_id')
      .select(['users.username', 'people.role'])
      .where('people.skill_id', '=', skillId)
      .execute()
  )
}

/** PUT /skills/<name>/collaborators/<username>: invites a user, or changes a collaborator's role. */
export async function putCollaborator(
  context: CatalogueContext,
  input: { name: string; username: string; role: Role },
  caller: Caller,
) {
  const skill = await getSkill(context, input.name, caller)
  requireOwner(skill, caller)
  const user = await getUserByName(context, input.username)
  if (user.id === skill.owner_id)
    throw new RegistryError('conflict', `${user.username} already owns ${skill.full_name}.`)
  const what = { action: 'skill.collaborator.put', subject: skill.full_name, cause: { type: 'skill' } as const }
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
export async function deleteCollaborator(
  context: CatalogueContext,
  input: { name: string; username: string },
  caller: Caller,
): Promise<undefined> {
  const isOwnName = caller.kind === 'user' && caller.username === input.username
  const invited = isOwnName ? await findInvitedSkill(context, input.name, caller.userId) : undefined
  const skill = invited ?? (await getSkill(context, input.name, caller))
  const user = await getUserByName(context, input.username)
  if (user.id !== callerId(caller)) requireOwner(skill, caller)
  const what = { action: 'skill.collaborator.delete', subject: skill.full_name, cause: { type: 'skill' } as const }
  await changeSkill(context, caller, skill, what, async (trx) => {
    const tables = ['collaborators', 'invitations'] as const
    const results = tables.map((table) =>
      trx.deleteFrom(table).where('skill_id', '=', skill.id).where('user_id', '=', user.id).executeTakeFirst(),
    )
    return (await Promise.all(results)).some(({ numDeletedRows }) => numDeletedRows > 0n)
  })
}

/** Removes all collaborators and invitations of a skill, for example on a transfer: the former owner chose them. */
export async function removeCollaborators(trx: WriteTransaction, skillId: string): Promise<void> {
  await trx.deleteFrom('collaborators').where('skill_id', '=', skillId).execute()
  await trx.deleteFrom('invitations').where('skill_id', '=', skillId).execute()
}
