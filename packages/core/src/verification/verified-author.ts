import type { Kysely } from 'kysely'
import { keepCompiled } from '../storage/compiled-query.ts'
import type { Tables } from '../storage/tables.ts'

/** Whether a user holds a verified method. */
export async function isVerifiedAuthor(db: Kysely<Tables>, userId: string): Promise<boolean> {
  return (await selectVerified(db, userId, 'verified', 1)).length > 0
}

const selectVerified = keepCompiled((db) =>
  db.selectFrom('verifications').select('id').where('user_id', '=', '').where('status', '=', 'verified').limit(1),
)
