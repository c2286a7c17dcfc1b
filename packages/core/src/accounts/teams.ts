import { limits, RegistryError } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { Caller } from '../kernel/caller.ts'
import { invalidField } from '../kernel/field-errors.ts'
import { newId } from '../kernel/ids.ts'
import { countRows } from '../storage/count-rows.ts'
import { addRow } from '../storage/table-rows.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Tables, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { isAdministrator } from '../visibility/rights.ts'

/** A stored team. */
export type TeamRow = Tables['teams']

/** The team with a name in an organisation; undefined if there is none. */
export function findTeam(db: Kysely<Tables>, organisationId: string, name: string): Promise<TeamRow | undefined> {
  return db
    .selectFrom('teams')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('name', '=', name)
    .executeTakeFirst()
}

/** Adds a team. Throws `conflict` if the organisation has the maximum number of teams. */
export async function insertTeam(
  context: StorageContext,
  trx: WriteTransaction,
  { id, username }: UserRow,
  name: string,
): Promise<TeamRow> {
  const max = limits.teamsPerOrganisationMax
  if ((await countRows(trx.selectFrom('teams').where('organisation_id', '=', id))) >= max)
    throw new RegistryError('conflict', `${username} has ${max} teams, the maximum. Delete one first.`)
  const row: TeamRow = { id: newId(), organisation_id: id, name, created_at: context.clock.now() }
  await trx.insertInto('teams').values(row).execute()
  return row
}

/**
 * Replaces the members of a team with the named users, who must be members of the organisation. Throws `conflict` for
 * the removal of a user whom a group of the identity provider would add again, unless an administrator of the node asks
 * for the removal.
 */
export async function replaceTeamMembers(
  trx: WriteTransaction,
  { id, username }: UserRow,
  teamId: string,
  names: readonly string[],
  caller: Caller,
): Promise<void> {
  const found =
    names.length === 0
      ? []
      : await trx
          .selectFrom('members')
          .innerJoin('users', 'users.id', 'members.user_id')
          .select(['users.id', 'users.username'])
          .where('members.organisation_id', '=', id)
          .where('users.username', 'in', names)
          .execute()
  const missing = names.find((name) => !found.some((user) => user.username === name))
  if (missing !== undefined) throw invalidField('members', `has '${missing}', who is not a member of ${username}`)
  const kept = found.map(({ id: userId }) => userId)
  if (!isAdministrator(caller)) {
    const lost = await trx
      .selectFrom('team_members')
      .innerJoin('users', 'users.id', 'team_members.user_id')
      .select('users.username')
      .where('team_members.team_id', '=', teamId)
      .where('team_members.by_groups', '=', 1)
      .where('users.disabled', '=', 0)
      .$if(kept.length > 0, (query) => query.where('users.id', 'not in', kept))
      .executeTakeFirst()
    if (lost) throw changedByGroups('in this team', lost.username)
  }
  await trx
    .deleteFrom('team_members')
    .where('team_id', '=', teamId)
    .$if(kept.length > 0, (removal) => removal.where('user_id', 'not in', kept))
    .execute()
  // `addRow` changes no existing row, so users whom a group of the identity provider added stay marked as such.
  for (const userId of kept) await addRow(trx, 'team_members', { team_id: teamId, user_id: userId })
}

/** The error for a change that the next sign-in or refresh of a session would undo. */
export function changedByGroups(what: string, username: string): RegistryError {
  return new RegistryError(
    'conflict',
    `${username} is ${what} by a group of the identity provider, which would undo this. Change the groups of ${username} there, or ask an administrator of the node.`,
  )
}

/** Removes a team that has neither members nor roles on skills any more. */
export async function removeTeam(trx: WriteTransaction, { id }: TeamRow): Promise<void> {
  await trx.deleteFrom('teams').where('id', '=', id).execute()
}
