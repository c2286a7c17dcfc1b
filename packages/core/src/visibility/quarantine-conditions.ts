import { type MemberRole, memberRoles, rolesWith } from '@skillstead/protocol'
import { type ExpressionBuilder, expressionBuilder, sql, type SqlBool } from 'kysely'
import { type Caller, callerId, requireUser } from '../kernel/caller.ts'
import type { Tables } from '../storage/tables.ts'
import { isAdministrator } from './rights.ts'

/** Whether a caller sees a row of `quarantine_items`, as `getQuarantineItem` decides. */
export function isItemSeenBy(caller: Caller) {
  const userId = callerId(caller) ?? ''
  return (eb: ExpressionBuilder<Tables, 'quarantine_items'>) =>
    eb.or([
      eb('owner_id', '=', userId),
      eb.and([
        eb('publisher_id', '=', userId),
        eb.or([eb('reason', '=', 'approval'), eb('owner_id', 'in', selectOwners(userId, memberRoles))]),
      ]),
      eb('owner_id', 'in', selectOwners(userId, rolesWith('review'))),
      eb('full_name', 'in', (of) =>
        of
          .selectFrom('team_members')
          .innerJoin('team_skills', 'team_skills.team_id', 'team_members.team_id')
          .innerJoin('skills', 'skills.id', 'team_skills.skill_id')
          .select('skills.full_name')
          .where('team_members.user_id', '=', userId)
          .where(
            'team_skills.role',
            'in',
            rolesWith('review').filter((role) => role !== 'owner'),
          ),
      ),
      mayDecide(caller) ? eb('reason', '=', 'policy') : sql.lit(false).$castTo<SqlBool>(),
    ])
}

/** The ids of the organisations whose versions a user reviews. */
export function selectReviewedOwners(userId: string) {
  return selectOwners(userId, rolesWith('review'))
}

function selectOwners(userId: string, roles: readonly MemberRole[]) {
  return expressionBuilder<Tables, never>()
    .selectFrom('members')
    .select('organisation_id')
    .where('user_id', '=', userId)
    .where('role', 'in', roles)
}

/** Whether the caller may read and decide on other users' versions that the scan policy quarantined. */
export function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}
