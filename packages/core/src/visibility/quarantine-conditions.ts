import { rolesWith } from '@skillstead/protocol'
import { type ExpressionBuilder, sql, type SqlBool } from 'kysely'
import { type Caller, callerId, requireUser } from '../kernel/caller.ts'
import type { Tables } from '../storage/tables.ts'
import { isAdministrator, selectOrganisationsWith } from './rights.ts'

/** Whether a caller sees a row of `quarantine_items`, as `getQuarantineItem` decides. */
export function isItemSeenBy(caller: Caller) {
  const userId = callerId(caller) ?? ''
  return (eb: ExpressionBuilder<Tables, 'quarantine_items'>) =>
    eb.or([
      eb('owner_id', '=', userId),
      eb.and([
        eb('publisher_id', '=', userId),
        eb.or([eb('reason', '=', 'approval'), eb('owner_id', 'in', selectOrganisationsWith('read', userId))]),
      ]),
      eb('owner_id', 'in', selectOrganisationsWith('review', userId)),
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

/** Whether the caller may read and decide on other users' versions that the scan policy quarantined. */
export function mayDecide(caller: Caller): boolean {
  return isAdministrator(caller) && requireUser(caller).scopes.includes('manage')
}
