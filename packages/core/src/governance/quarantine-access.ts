import { type MemberRole, memberRoles, RegistryError, rightsByRole, rolesWith } from '@skillstead/protocol'
import { type ExpressionBuilder, expressionBuilder, type Kysely, sql, type SqlBool } from 'kysely'
import { findMemberRole } from '../accounts/organisations.ts'
import { type Caller, callerId, requireScope, requireUser } from '../kernel/caller.ts'
import type { QuarantineItemRow, Tables } from '../storage/tables.ts'
import { findRoles, findUsersWith, isAdministrator, isOwner } from '../visibility/rights.ts'
import { readEffectivePolicy } from './policies.ts'

/** What a caller is to a quarantined version that the caller may see. */
export interface ItemAccess {
  /** Published it, or owns the skill in person. */
  readonly isAuthor: boolean
  /** May review it: no one reviews a version that he published. */
  readonly mayReview: boolean
}

/** A quarantined version with the caller's access. */
export interface SeenItem extends ItemAccess {
  readonly row: QuarantineItemRow
}

/**
 * A quarantined version for its author, those who may review it, and, unless it waits for reviewers, administrators.
 * Throws `not_found` for everyone else, `forbidden` for an administrator's key without the scope `manage`.
 */
export async function getQuarantineItem(db: Kysely<Tables>, id: string, caller: Caller): Promise<SeenItem> {
  const row = await db.selectFrom('quarantine_items').selectAll().where('id', '=', id).executeTakeFirst()
  const access = row && (await findAccess(db, row, caller))
  if (!row || !access) throw new RegistryError('not_found', 'There is no quarantined version with this id.')
  return { row, ...access }
}

async function findAccess(db: Kysely<Tables>, row: QuarantineItemRow, caller: Caller): Promise<ItemAccess | undefined> {
  const { userId } = requireUser(caller)
  const skill = await findItemSkill(db, row)
  const roles = await findRoles(db, skill, userId)
  const isReviewer = roles.some((role) => rightsByRole[role].includes('review'))
  // A collaborator does not see what the scan policy keeps from publication: its owner decides.
  const mayWithdraw = row.reason === 'approval' || (await findMemberRole(db, row.owner_id, userId)) !== undefined
  const isAuthor = isOwner(row, caller) || (row.publisher_id === userId && mayWithdraw)
  const { reviewers } = (await readEffectivePolicy(db, skill)).approvals ?? {}
  const isNamed = reviewers === undefined || (caller.kind === 'user' && reviewers.includes(caller.username))
  const mayReview = row.reason === 'approval' && isReviewer && isNamed && row.publisher_id !== userId
  if (isAuthor || isReviewer) return { isAuthor, mayReview }
  if (row.reason === 'approval' || !isAdministrator(caller)) return undefined
  requireScope(requireUser(caller), 'manage')
  return { isAuthor, mayReview }
}

/** The skill of a quarantined version, or one that was never published. */
async function findItemSkill(db: Kysely<Tables>, { full_name, owner_id }: QuarantineItemRow) {
  const skill = await db.selectFrom('skills').select('id').where('full_name', '=', full_name).executeTakeFirst()
  return { id: skill?.id ?? '', owner_id }
}

/** The ids of the users who may review a version. */
export async function findReviewers(db: Kysely<Tables>, row: QuarantineItemRow): Promise<string[]> {
  const skill = await findItemSkill(db, row)
  const ids = (await findUsersWith(db, skill, 'review')).filter((id) => id !== row.publisher_id)
  const { reviewers } = (await readEffectivePolicy(db, skill)).approvals ?? {}
  if (reviewers === undefined || ids.length === 0) return ids
  if (reviewers.length === 0) return []
  const named = await db.selectFrom('users').select('id').where('username', 'in', reviewers).execute()
  const allowed = new Set(named.map(({ id }) => id))
  return ids.filter((id) => allowed.has(id))
}

/** The number of approvals that a version needs by the current policies. */
export async function countNeeded(db: Kysely<Tables>, row: QuarantineItemRow): Promise<number> {
  const policy = await readEffectivePolicy(db, await findItemSkill(db, row))
  return Math.max(1, policy.approvals?.count ?? 1)
}

/** Whether a caller sees a row of `quarantine_items`, as {@link getQuarantineItem} decides. */
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
