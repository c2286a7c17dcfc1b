import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'

/** Whether a user holds a verified method. */
export async function isVerifiedAuthor(db: Kysely<Tables>, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('verifications')
    .select('id')
    .where('user_id', '=', userId)
    .where('status', '=', 'verified')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
