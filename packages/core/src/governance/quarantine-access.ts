import { type Policy, RegistryError, rightsByRole } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { findMemberRole } from '../accounts/organisations.ts'
import { type Caller, requireScope, requireUser } from '../kernel/caller.ts'
import type { QuarantineItemRow, Tables } from '../storage/tables.ts'
import { findRoles, findUsersWith, isAdministrator, isOwner } from '../visibility/rights.ts'
import { readEffectivePolicy } from './policies.ts'

/** What a caller is to a quarantined version that the caller may see. */
interface ItemAccess {
  /** Published it, or owns the skill in person. */
  readonly isAuthor: boolean
  /** May review it: no one reviews an own version. */
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
  const { reviewers } = (await readEffectivePolicy(db, row)).approvals ?? {}
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

/** The ids of the users who may review a version. Default policy: the effective one, which is read. */
export async function findReviewers(db: Kysely<Tables>, row: QuarantineItemRow, policy?: Policy): Promise<string[]> {
  const skill = await findItemSkill(db, row)
  const ids = (await findUsersWith(db, skill, 'review')).filter((id) => id !== row.publisher_id)
  const { reviewers } = (policy ?? (await readEffectivePolicy(db, row))).approvals ?? {}
  if (reviewers === undefined || ids.length === 0) return ids
  if (reviewers.length === 0) return []
  const named = await db.selectFrom('users').select('id').where('username', 'in', reviewers).execute()
  const allowed = new Set(named.map(({ id }) => id))
  return ids.filter((id) => allowed.has(id))
}
