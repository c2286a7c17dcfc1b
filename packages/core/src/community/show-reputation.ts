import { type Reputation, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { getUserByName } from '../accounts/find-user.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { StandingRow, Tables } from '../storage/tables.ts'
import { noFacts, toStanding } from './author-standings.ts'
import { badges, toComponents, toLevel } from './badges.ts'
import type { CommunityContext } from './community-context.ts'

/** GET /users/<username>/reputation: all zeros for an author without a standing. */
export async function showReputation(context: CommunityContext, input: { username: string }): Promise<Reputation> {
  const db = context.database.read
  const user = await getUserByName(context, input.username)
  const row = await db.selectFrom('standings').selectAll().where('user_id', '=', user.id).executeTakeFirst()
  const { id: user_id, username } = user
  const standing = row ?? { user_id, username, ...noFacts, verified: '[]', score: 0, computed_at: context.clock.now() }
  const rank = 1 + (await countAuthors(db, { above: standing.score }))
  return toReputation(standing, rank, await readBadges(db, [user.id]))
}

/** The number of authors on the leaderboard; with `above`, those with a higher score. */
async function countAuthors(db: Kysely<Tables>, { above }: { above?: number } = {}): Promise<number> {
  const all = db
    .selectFrom('standings')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .$if(above !== undefined, (query) => query.where('score', '>', above!))
  // Unlisted users are found through indexes, which is faster than reading all standings.
  const unlisted = all.where('user_id', 'in', selectUnlisted(db))
  const counts = await db.selectNoFrom([all.as('all'), unlisted.as('unlisted')]).executeTakeFirstOrThrow()
  return counts.all! - counts.unlisted!
}

/** The ids of users that are in no list: disabled users, and unclaimed namespaces of imports and mirrors. */
function selectUnlisted(db: Kysely<Tables>) {
  return db
    .selectFrom('users')
    .select('id')
    .where((eb) => eb.or([eb('disabled', '=', 1), eb('claimed', '=', 0)]))
}

/** The badges of users, by id, with their dates. */
async function readBadges(db: Kysely<Tables>, userIds: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const dates = new Map(userIds.map((id) => [id, new Map<string, number>()]))
  if (userIds.length === 0) return dates
  const rows = await db.selectFrom('badges').selectAll().where('user_id', 'in', userIds).execute()
  for (const { user_id, badge, since } of rows) dates.get(user_id)!.set(badge, since)
  return dates
}

/** The public form of a stored standing. `badgesOf` must include the badges of its user. */
function toReputation(
  row: StandingRow,
  rank: number,
  badgesOf: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Reputation {
  const { username, facts, verified } = toStanding(row)
  const dates = badgesOf.get(row.user_id)!
  return {
    username,
    score: row.score,
    level: toLevel(row.score),
    rank,
    components: toComponents(facts, verified),
    verified: [...verified],
    badges: badges
      .filter(({ id }) => dates.has(id))
      .map(({ id, title }) => ({ id, title, since: toTimestamp(dates.get(id)!) })),
    computedAt: toTimestamp(row.computed_at),
  }
}

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
  const userIds = rows.map(({ user_id }) => user_id)
  const earned = await readBadges(db, userIds)
  // The first authors of a page may share their rank with the last of the previous page.
  let rank = rows[0] ? 1 + (await countAuthors(db, { above: rows[0].score })) : 0
  const entries = rows.map((row, i) => {
    if (i > 0 && row.score !== rows[i - 1]!.score) rank = offset + i + 1
    return toReputation(row, rank, earned)
  })
  return { entries, ...toPage(await countAuthors(db), page, limit) }
}
