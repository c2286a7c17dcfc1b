import {
  limits,
  type MemberRole,
  type Organisation,
  RegistryError,
  type Right,
  rightsByRole,
  rolesWith,
  toTimestamp,
} from '@skillstead/protocol'
import { expressionBuilder, type Kysely, sql } from 'kysely'
import { toAvatarUrl } from '../kernel/avatar-url.ts'
import { type Caller, callerId, requireAccount, requireUser } from '../kernel/caller.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import { countRows } from '../storage/count-rows.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Tables, UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { isListedFor, isListedSkill } from '../visibility/conditions.ts'
import { isAdministrator } from '../visibility/rights.ts'
import type { AccountsContext } from './accounts-context.ts'
import { getClaimedPerson } from './find-user.ts'
import { claimName, renameUser } from './users.ts'

/**
 * POST /organisations: creates an organisation, owned by the caller or by the user whom an administrator names. Throws
 * `name_taken`.
 */
export const createOrganisation: Operation<'createOrganisation', AccountsContext> = async (context, input, caller) => {
  const { name, displayName, owner } = input
  if (owner !== undefined && !isAdministrator(caller))
    throw new RegistryError('forbidden', 'Only administrators choose the owner of an organisation.')
  const first = owner === undefined ? { id: requireAccount(caller).userId } : await getClaimedPerson(context, owner)
  return context.database.writer.write(async (trx) => {
    const at = context.clock.now()
    const owned = trx.selectFrom('members').where('user_id', '=', first.id).where('role', '=', 'owner')
    if ((await countRows(owned)) >= limits.organisationsPerUserMax)
      throw new RegistryError('conflict', `A user may own ${limits.organisationsPerUserMax} organisations at most.`)
    const row = await claimName(trx, {
      username: name,
      plan: context.defaultPlan,
      role: 'user',
      kind: 'organisation',
      now: at,
      mayClaim: isAdministrator(caller),
    })
    if (displayName !== undefined) await renameUser(trx, row.id, displayName)
    await trx
      .insertInto('members')
      .values({ organisation_id: row.id, user_id: first.id, role: 'owner', created_at: at })
      .execute()
    await recordAudit(trx, { caller, action: 'organisation.create', subject: name, at, data: { owner } })
    return showRow(trx, row, caller)
  })
}

/**
 * GET /organisations: the organisations of which the caller is a member, by name; with `all`, administrators get all
 * organisations.
 */
export const listOrganisations: Operation<'listOrganisations', StorageContext> = async (context, input, caller) => {
  const { userId } = requireUser(caller)
  const isAll = input.all && isAdministrator(caller)
  const { read } = context.database
  const own = read.selectFrom('members').select('organisation_id').where('user_id', '=', userId)
  const matching = read
    .selectFrom('users')
    .where('kind', '=', 'organisation')
    .where('claimed', '=', 1)
    .$if(!isAll, (select) => select.where('id', 'in', own))
  const { rows, paging } = await readPage(matching, matching.select(shownTo(caller)).orderBy('username'), input)
  return { organisations: rows.map(toOrganisation), ...paging }
}

/** GET /organisations/<name>: shows an organisation. */
export const showOrganisation: Operation<'getOrganisation', StorageContext> = async (
  context,
  { organisation },
  caller,
) => showRow(context.database.read, await getOrganisation(context.database.read, organisation), caller)

/** PATCH /organisations/<name>: changes the display name. */
export const updateOrganisation: Operation<'updateOrganisation', StorageContext> = async (
  context,
  { organisation, displayName },
  caller,
) =>
  changeOrganisation(context, { organisation, right: 'administer' }, caller, async (trx, row) => {
    if (displayName === undefined || displayName === row.display_name) return showRow(trx, row, caller)
    await renameUser(trx, row.id, displayName)
    const at = context.clock.now()
    await recordAudit(trx, { caller, action: 'organisation.update', subject: row.username, at, data: { displayName } })
    return showRow(trx, row, caller)
  })

/**
 * DELETE /organisations/<name>: deletes the organisation. Its name stays reserved, because former names of skills that
 * it transferred contain the name. Throws `conflict` while the organisation owns skills, packs or quarantined versions.
 */
export const deleteOrganisation: Operation<'deleteOrganisation', StorageContext> = async (context, input, caller) => {
  const { organisation } = input
  await changeOrganisation(context, { organisation, right: 'own' }, caller, async (trx, { id, username }) => {
    const skills = await countRows(
      trx.selectFrom('skills').where('owner_id', '=', id).where('state', '!=', 'withdrawn'),
    )
    const packs = await countRows(trx.selectFrom('packs').where('curator_id', '=', id).where('state', '=', 'live'))
    const waiting = await countRows(trx.selectFrom('quarantine_items').where('owner_id', '=', id))
    if (skills + packs + waiting > 0)
      throw new RegistryError(
        'conflict',
        `${username} still has skills (${skills}), packs (${packs}) or versions that wait for a decision (${waiting}). Transfer or delete them first.`,
      )
    for (const table of ['members', 'member_invitations', 'teams'] as const)
      await trx.deleteFrom(table).where('organisation_id', '=', id).execute()
    await trx.deleteFrom('trusted_publishers').where('owner_id', '=', id).execute()
    // All API keys of an organisation belong to CI jobs.
    await trx.deleteFrom('api_keys').where('user_id', '=', id).execute()
    await trx.updateTable('users').set({ claimed: 0 }).where('id', '=', id).execute()
    await recordAudit(trx, { caller, action: 'organisation.delete', subject: username, at: context.clock.now() })
  })
}

/** Checks that the caller has `right` in an organisation, and runs `work` in the same transaction. */
export async function changeOrganisation<T>(
  context: StorageContext,
  { organisation, right }: { organisation: string; right: Right },
  caller: Caller,
  work: (trx: WriteTransaction, row: UserRow) => Promise<T>,
): Promise<T> {
  return context.database.writer.write(async (trx) => {
    const row = await getOrganisation(trx, organisation)
    await requireMemberRight(trx, row, caller, right)
    return work(trx, row)
  })
}

/** Finds an organisation by name; throws `not_found`. */
export async function getOrganisation(db: Kysely<Tables>, name: string): Promise<UserRow> {
  const row = await findOrganisation(db, name)
  if (!row) throw new RegistryError('not_found', `There is no organisation '${name}'.`)
  return row
}

/** The organisation with a name; undefined if there is none. */
export async function findOrganisation(db: Kysely<Tables>, name: string): Promise<UserRow | undefined> {
  return (await selectOrganisation(db, { name }))[0]
}

// `selectOrganisation` and `selectRole` are compiled once, because every publish of a member runs them.
const selectOrganisation = compileQuery((db, param: Param<{ name: string }>) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('username', '=', param('name'))
    .where('kind', '=', 'organisation')
    .where('claimed', '=', 1),
)
const selectRole = compileQuery((db, param: Param<{ organisationId: string; userId: string }>) =>
  db
    .selectFrom('members')
    .select('role')
    .where('organisation_id', '=', param('organisationId'))
    .where('user_id', '=', param('userId')),
)

/** The organisation with a name, if the caller has the given right in it; undefined otherwise. */
export async function findOwnOrganisation(db: Kysely<Tables>, name: string, caller: Caller, right: Right) {
  const row = await findOrganisation(db, name)
  return row && (await hasMemberRight(db, row.id, callerId(caller), right)) ? row : undefined
}

/** Throws `forbidden` if the caller lacks the right in an organisation and is not an administrator of the node. */
export async function requireMemberRight(
  db: Kysely<Tables>,
  { id, username }: Pick<UserRow, 'id' | 'username'>,
  caller: Caller,
  right: Right,
): Promise<void> {
  const role = await findMemberRole(db, id, callerId(caller))
  if (isAdministrator(caller) || (role && rightsByRole[role].includes(right))) return
  const own = role ? `your role is ${role}` : 'you are not a member'
  throw new RegistryError('forbidden', `This needs the role ${rolesWith(right).join(' or ')} in ${username}; ${own}.`)
}

/** Whether a user has the given right in an organisation; false for guests. */
export async function hasMemberRight(db: Kysely<Tables>, organisationId: string, userId: string | null, right: Right) {
  const role = await findMemberRole(db, organisationId, userId)
  return role !== undefined && rightsByRole[role].includes(right)
}

/** The role of a user in an organisation; undefined for guests, and for users who are not members. */
export async function findMemberRole(db: Kysely<Tables>, organisationId: string, userId: string | null) {
  if (userId === null) return undefined
  return (await selectRole(db, { organisationId, userId }))[0]?.role
}

/**
 * The columns that {@link toOrganisation} shows. For callers who are not administrators, `skills` counts only skills
 * that they may see.
 */
function shownTo(caller: Caller) {
  const role = sql<MemberRole | null>`(select members.role from members
    where members.organisation_id = users.id and members.user_id = ${callerId(caller)})`
  const skills = expressionBuilder<Tables, 'users'>()
    .selectFrom('skills')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .whereRef('skills.owner_id', '=', 'users.id')
    .where(isAdministrator(caller) ? isListedSkill : isListedFor(caller))
  return [
    ...(['id', 'username', 'display_name', 'created_at'] as const),
    role.as('role'),
    sql<number>`(select count(*) from members where members.organisation_id = users.id)`.as('members'),
    sql<number>`(select count(*) from teams where teams.organisation_id = users.id)`.as('teams'),
    skills.$asScalar().$notNull().as('skills'),
  ] as const
}

async function showRow(db: Kysely<Tables>, { id }: Pick<UserRow, 'id'>, caller: Caller): Promise<Organisation> {
  const shown = db.selectFrom('users').select(shownTo(caller)).where('id', '=', id)
  return toOrganisation(await shown.executeTakeFirstOrThrow())
}

function toOrganisation({
  id,
  username: name,
  display_name: displayName,
  created_at,
  role,
  ...counts
}: Pick<UserRow, 'id' | 'username' | 'display_name' | 'created_at'> &
  Pick<Organisation, 'role'> &
  Organisation['counts']): Organisation {
  return { id, name, displayName, avatarUrl: toAvatarUrl(name), createdAt: toTimestamp(created_at), role, counts }
}
