import type { Me } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { Tables, VerificationRow } from '../storage/tables.ts'
import type { ProofMethod } from './verification-form.ts'

/** The methods and subjects of the verifications that a user has completed, ordered by method. */
export async function readVerifications(db: Kysely<Tables>, userId: string): Promise<Me['verifications']> {
  const rows = await db
    .selectFrom('verifications')
    .select(['method', 'proof'])
    .distinct()
    .where('user_id', '=', userId)
    .where('status', '=', 'verified')
    .execute()
  const proved = new Map(rows.map((row) => [`${row.method} ${toVerifiedSubject(row)}`, row]))
  return [...proved]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => ({ method: row.method, subject: toVerifiedSubject(row) }))
}

/** The verified domain or GitHub account; null for a manual verification, whose statement is private. */
function toVerifiedSubject({ method, proof }: Pick<VerificationRow, 'method' | 'proof'>): string | null {
  if (method === 'manual') return null
  return method === 'domain' ? proof : new URL(proof).pathname.split('/')[1]!
}

/** Maps the ids of verified users to their methods of verification, sorted by name. Other users are absent. */
export async function readVerifiedMethods(db: Kysely<Tables>, userIds: readonly string[]) {
  const methods = new Map<string, ProofMethod[]>()
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
