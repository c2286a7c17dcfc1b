import {
  type MemberRole,
  RegistryError,
  type Right,
  rightsByRole,
  rolesWith,
  type TeamRole,
} from '@skillstead/protocol'
import { expressionBuilder, type Kysely } from 'kysely'
import { type Caller, callerId } from '../kernel/caller.ts'
import { compileQuery, type Param } from '../storage/compiled-query.ts'
import type { SkillRow, Tables } from '../storage/tables.ts'
import { kindsByCaller } from './read-rule.ts'

type Owned = Pick<SkillRow, 'id' | 'owner_id'>

/** The roles that a user has on a skill: as collaborator, as member of the organisation that owns it, by a team. */
const selectRoles = compileQuery((db, param: Param<{ skillId: string; ownerId: string; userId: string }>) =>
  db
    .selectFrom('collaborators')
    .select((eb) =>
      eb.case('role').when('write').then<MemberRole>('publisher').else<MemberRole>('reader').end().as('role'),
    )
    .where('skill_id', '=', param('skillId'))
    .where('user_id', '=', param('userId'))
    .unionAll(
      db
        .selectFrom('members')
        .select('role')
        .where('organisation_id', '=', param('ownerId'))
        .where('user_id', '=', param('userId')),
    )
    .unionAll(
      db
        .selectFrom('team_skills')
        .innerJoin('team_members', 'team_members.team_id', 'team_skills.team_id')
        .select('team_skills.role')
        .where('team_skills.skill_id', '=', param('skillId'))
        .where('team_members.user_id', '=', param('userId')),
    )
    .$castTo<{ role: MemberRole }>(),
)

/** A user's roles on a skill: those of a member, a collaborator or a team; `owner` if the user owns the skill. */
export async function findRoles(db: Kysely<Tables>, { id, owner_id }: Owned, userId: string): Promise<MemberRole[]> {
  if (userId === owner_id) return ['owner']
  const rows = await selectRoles(db, { skillId: id, ownerId: owner_id, userId })
  return rows.map(({ role }) => role)
}

async function readRoles(db: Kysely<Tables>, skill: Owned, caller: Caller): Promise<MemberRole[]> {
  return caller.kind === 'guest' ? [] : findRoles(db, skill, caller.userId)
}

/**
 * The ids of the users who have a right on a skill and are not disabled; `id` is '' for a skill that an organisation has
 * not published yet.
 */
export async function findUsersWith(db: Kysely<Tables>, { id, owner_id }: Owned, right: Right): Promise<string[]> {
  const roles = rolesWith(right)
  const ofTeams = db
    .selectFrom('team_skills')
    .innerJoin('team_members', 'team_members.team_id', 'team_skills.team_id')
    .select('team_members.user_id')
    .where('team_skills.skill_id', '=', id)
    .where('team_skills.role', 'in', roles as readonly TeamRole[])
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('kind', '=', 'user')
    .where('disabled', '=', 0)
    .where((eb) => eb.or([eb('id', '=', owner_id), eb('id', 'in', selectMembersWith(right, owner_id).union(ofTeams))]))
    .execute()
  return rows.map((row) => row.id)
}

/** Selects the ids of the members who have a right in an organisation. */
export function selectMembersWith(right: Right, organisationId: string) {
  return selectMemberships(right).select('user_id').where('organisation_id', '=', organisationId)
}

/** Selects the ids of the organisations in which a user has a right. */
export function selectOrganisationsWith(right: Right, userId: string) {
  return selectMemberships(right).select('organisation_id').where('user_id', '=', userId)
}

function selectMemberships(right: Right) {
  return expressionBuilder<Tables, never>().selectFrom('members').where('role', 'in', rolesWith(right))
}

/**
 * Whether the caller has a right on a skill: as its owner or by a role of {@link rightsByRole}. Writes repeat this check
 * in their transaction, since a role may be revoked concurrently.
 */
export async function hasRight(db: Kysely<Tables>, skill: Owned, caller: Caller, right: Right): Promise<boolean> {
  return grants(await readRoles(db, skill, caller), right)
}

/** Refuses callers without a right on a skill with `forbidden`. */
export async function requireRight(
  db: Kysely<Tables>,
  skill: Owned & Pick<SkillRow, 'full_name'>,
  caller: Caller,
  right: Right,
): Promise<void> {
  requireWithinLimit(caller, skill.full_name)
  const roles = await readRoles(db, skill, caller)
  if (grants(roles, right)) return
  const own =
    roles.length === 0 ? '' : ` Your role is ${roles.join(', ')}; this needs ${rolesWith(right).join(' or ')}.`
  throw new RegistryError('forbidden', `Only the owner of ${skill.full_name} may do this.${own}`)
}

/** Refuses a key that is limited to another owner or other skills with `forbidden`. */
export function requireWithinLimit(caller: Caller, fullName: string): void {
  if (caller.kind === 'guest' || caller.limitedTo === undefined) return
  const allowed = caller.limitedTo.split(' ')
  if (allowed.some((name) => fullName === name || fullName.startsWith(`${name}/`))) return
  throw new RegistryError(
    'forbidden',
    `This API key is limited to ${allowed.join(', ')}. Use another key for ${fullName}.`,
  )
}

function grants(roles: readonly MemberRole[], right: Right): boolean {
  return roles.some((role) => rightsByRole[role].includes(right))
}

/** Whether the caller owns the skill in person. */
export function isOwner(skill: Pick<SkillRow, 'owner_id'>, caller: Caller): boolean {
  return callerId(caller) === skill.owner_id
}

/** Whether the caller may moderate other users' skills. */
export const isAdministrator = kindsByCaller.administrator
