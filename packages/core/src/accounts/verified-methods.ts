import type { Kysely } from 'kysely'
import type { Tables, VerificationRow } from '../storage/tables.ts'

export type VerifiedMethod = VerificationRow['method']

/** The verification methods of users, ordered by name; users who are not verified are absent. */
export async function readVerifiedMethods(
  db: Kysely<Tables>,
  userIds: readonly string[],
): Promise<Map<string, VerifiedMethod[]>> {
  const methods = new Map<string, VerifiedMethod[]>()
  if (userIds.length === 0) return methods
  const rows = await db
    .selectFrom('verifications')
    .select(['user_id', 'method'])
    .distinct()
    .where('status', '=', 'verified')
    .where('user_id', 'in', userIds)
    .orderBy('method')
    .execute()
  for (const { user_id, method } of rows) methods.set(user_id, [...(methods.get(user_id) ?? []), method])
  return methods
}
