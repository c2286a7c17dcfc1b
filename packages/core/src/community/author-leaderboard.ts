import type { CommunityContext } from './community-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import { countAuthors, readBadges, selectUnlisted, toReputation } from './show-reputation.ts'

/** GET /reputation/leaderboard: all authors with a score, highest first, then by name. */
export async function listAuthors(context: CommunityContext, { page, limit }: { page: number; limit: number }) {
  const db = context.database.read
  const offset = toOffset(page, limit)
  const rows = await db
    .selectFrom('standings')
    .selectAll()
    .where('user_id', 'not in', selectUnlisted(db))
    .orderBy('score', 'desc')
    .orderBy('username')
    .limit(limit)
    .offset(offset)
    .execute()
  const badges = await readBadges(
    db,
    rows.map(({ user_id }) => user_id),
  )
  // The first authors of a page may share their rank with the last of the previous page.
  let rank = rows[0] ? 1 + (await countAuthors(db, { above: rows[0].score })) : 0
  const entries = rows.map((row, i) => {
    if (i > 0 && row.score !== rows[i - 1]!.score) rank = offset + i + 1
    return toReputation(row, rank, badges)
  })
  return { entries, ...toPage(await countAuthors(db), page, limit) }
}
