import { type Member, RegistryError, toTimestamp } from '@skillstead/protocol'
import { sql } from 'kysely'
import { type Caller, callerId, requireAccount } from '../kernel/caller.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { readPage } from '../storage/read-page.ts'
import { hasRow, removeRows } from '../storage/table-rows.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { isAdministrator } from '../visibility/rights.ts'
import { getClaimedPerson, getPerson } from './find-user.ts'
import { changedByGroups } from './teams.ts'
import { changeOrganisation, findMemberRole, getOrganisation, requireMemberRight } from './organisations.ts'

/** GET /organisations/<name>/members, for members and administrators: the members and the invited users, by name. */
export const listMembers: Operation<'listMembers', StorageContext> = async (context, input, caller) => {
  const { read } = context.database
  const { id } = await getOrganisation(read, input.organisation)
  await requireMemberRight(read, { id, username: input.organisation }, caller, 'read')
  const accepted = sql.lit<Member['status']>('accepted').as('status')
  const invited = sql.lit<Member['status']>('invited').as('status')
  const members = read.selectFrom('members').where('organisation_id', '=', id)
  const invitations = read.selectFrom('member_invitations').where('organisation_id', '=', id)
  const people = members
    .select(['user_id', 'role', accepted, 'by_groups'])
    .unionAll(invitations.select(['user_id', 'role', invited, sql.lit(0).as('by_groups')]))
    .as('people')
  const listed = read
    .selectFrom(people)
    .innerJoin('users', 'users.id', 'people.user_id')
    .select(['users.username', 'people.role', 'people.status', 'people.by_groups'])
    .orderBy('users.username')
  const { rows, paging } = await readPage(read.selectFrom(people), listed, input)
  const shown = rows.map(({ by_groups, ...member }) => ({ ...member, ...(by_groups === 1 && { byGroup: true }) }))
  return { members: shown, ...paging }
}

/** PUT /organisations/<name>/members/<username>: invites a user, or changes the role of a member. */
export const putMember: Operation<'putMember', StorageContext> = async (context, input, caller) => {
  const user = await getClaimedPerson(context, input.username)
  const { organisation, role } = input
  return changeOrganisation(context, { organisation, right: 'administer' }, caller, async (trx, row) => {
    const before = await findMemberRole(trx, row.id, user.id)
    if (role === 'owner' || before === 'owner') await requireMemberRight(trx, row, caller, 'own')
    const key = { organisation_id: row.id, user_id: user.id }
    const at = context.clock.now()
    if (before === undefined) {
      await trx
        .insertInto('member_invitations')
        .values({ ...key, role, created_at: at })
        .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).doUpdateSet({ role }))
        .execute()
    } else {
      await refuseByGroup(trx, row, user, caller)
      await trx
        .updateTable('members')
        .set({ role, by_groups: 0 })
        .where((eb) => eb.and(key))
        .execute()
      await refuseNoOwner(trx, row)
    }
    const data = { username: user.username, role, before }
    await recordAudit(trx, { caller, action: 'organisation.member.put', subject: row.username, at, data })
    return { username: user.username, role, status: before === undefined ? 'invited' : 'accepted' }
  })
}

/**
 * DELETE /organisations/<name>/members/<username>: removes a member from the organisation and its teams, or withdraws
 * an invitation. Throws `conflict` for the last owner.
 */
export const deleteMember: Operation<'deleteMember', StorageContext> = async (context, input, caller) => {
  const { organisation, username } = input
  const user = await getPerson(context, username)
  await context.database.writer.write(async (trx) => {
    const row = await getOrganisation(trx, organisation)
    const role = await findMemberRole(trx, row.id, user.id)
    if (user.id !== callerId(caller))
      await requireMemberRight(trx, row, caller, role === 'owner' ? 'own' : 'administer')
    await refuseByGroup(trx, row, user, caller)
    const isRemoved = await removeMember(trx, row, user.id)
    if (!isRemoved)
      throw new RegistryError('not_found', `${username} is neither a member of ${organisation} nor invited.`)
    await refuseNoOwner(trx, row)
    const at = context.clock.now()
    const data = { username, role }
    await recordAudit(trx, { caller, action: 'organisation.member.delete', subject: row.username, at, data })
  })
}

/**
 * Throws `conflict` for a member whose membership comes from a group of the identity provider: the next refresh of the
 * member's session would undo the change. Does not throw for administrators of the node, since the provider may be out
 * of use, nor for a disabled member, who has no session.
 */
async function refuseByGroup(
  trx: WriteTransaction,
  { id, username: organisation }: UserRow,
  user: UserRow,
  caller: Caller,
): Promise<void> {
  if (isAdministrator(caller) || user.disabled) return
  if (await hasRow(trx, 'members', { organisation_id: id, user_id: user.id, by_groups: 1 }))
    throw changedByGroups(`a member of ${organisation}`, user.username)
}

/**
 * Removes a user's membership or invitation, and the user from the teams of the organisation. Returns whether the user
 * was a member or invited.
 */
export async function removeMember(trx: WriteTransaction, { id }: Pick<UserRow, 'id'>, userId: string) {
  const key = { organisation_id: id, user_id: userId }
  const wasInvited = await removeRows(trx, 'member_invitations', key)
  const teams = trx.selectFrom('teams').select('id').where('organisation_id', '=', id)
  await trx.deleteFrom('team_members').where('user_id', '=', userId).where('team_id', 'in', teams).execute()
  return (await removeRows(trx, 'members', key)) || wasInvited
}

/** POST /organisations/<name>/accept: the invited caller becomes a member. */
export const acceptMembership: Operation<'acceptMembership', StorageContext> = async (context, input, caller) => {
  const { organisation } = input
  const { userId, username } = requireAccount(caller)
  return context.database.writer.write(async (trx) => {
    const { id } = await getOrganisation(trx, organisation)
    const invitation = await trx
      .deleteFrom('member_invitations')
      .where('organisation_id', '=', id)
      .where('user_id', '=', userId)
      .returning('role')
      .executeTakeFirst()
    if (!invitation) throw new RegistryError('not_found', `You have no invitation to ${organisation}.`)
    const { role } = invitation
    const at = context.clock.now()
    await trx.insertInto('members').values({ organisation_id: id, user_id: userId, role, created_at: at }).execute()
    await recordAudit(trx, { caller, action: 'organisation.member.accept', subject: organisation, at, data: { role } })
    return { username, role, status: 'accepted' }
  })
}

/** GET /invitations/organisations: the caller's invitations to organisations, oldest first. */
export async function listMemberInvitations(context: StorageContext, caller: Caller) {
  const { userId } = requireAccount(caller)
  const rows = await context.database.read
    .selectFrom('member_invitations as i')
    .innerJoin('users', 'users.id', 'i.organisation_id')
    .select(['users.username as organisation', 'i.role', 'i.created_at as createdAt'])
    .where('i.user_id', '=', userId)
    .orderBy('i.created_at')
    .orderBy('users.username')
    .execute()
  const invitations = rows.map((row) => ({ ...row, createdAt: toTimestamp(row.createdAt) }))
  return { invitations, total: invitations.length }
}

async function refuseNoOwner(trx: WriteTransaction, { id, username }: Pick<UserRow, 'id' | 'username'>): Promise<void> {
  if (await hasRow(trx, 'members', { organisation_id: id, role: 'owner' })) return
  throw new RegistryError(
    'conflict',
    `This would leave ${username} without an owner. Make another member an owner first.`,
  )
}
