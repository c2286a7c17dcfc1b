import { toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { type Credits, setCredits } from '../catalogue/skills/skill-counters.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { getUserByName } from '../accounts/find-user.ts'
import { readVerifiedMethods } from '../accounts/verified-author.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { SkillRow, StandingRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { putStandings, type Standing, toStanding } from './author-standings.ts'
import { badges, settleBadges, toBadges, toComponents, toLevel, toReputationScore } from './badges.ts'
import {
  addFacts,
  areNoFacts,
  type Facts,
  noFacts,
  ratedColumns,
  type RatedSkill,
  subtractFacts,
  toFacts,
} from './standing-facts.ts'
import { countCredits, noCredits } from './skill-credit.ts'

/** GET /users/<username>/reputation: all zeros for an author without a standing. */
export const showReputation: Operation<'getReputation', StorageContext> = async (context, input) => {
  const db = context.database.read
  const user = await getUserByName(context, input.username)
  const row = await db.selectFrom('standings').selectAll().where('user_id', '=', user.id).executeTakeFirst()
  const { id: user_id, username } = user
  const standing = row ?? { user_id, username, ...noFacts, verified: '[]', score: 0, computed_at: context.clock.now() }
  const rank = 1 + (await countAuthors(db, { above: standing.score }))
  return toReputation(standing, rank, await readBadges(db, [user.id]))
}

/** The number of authors on the leaderboard; with `above`, only authors with a higher score. */
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
function toReputation(row: StandingRow, rank: number, badgesOf: ReadonlyMap<string, ReadonlyMap<string, number>>) {
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
export const listAuthors: Operation<'getLeaderboard', StorageContext> = async (context, { page, limit }) => {
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
  // The first authors of a page may share their rank with the last authors of the previous page.
  let rank = rows[0] ? 1 + (await countAuthors(db, { above: rows[0].score })) : 0
  const entries = rows.map((row, i) => {
    if (i > 0 && row.score !== rows[i - 1]!.score) rank = offset + i + 1
    return toReputation(row, rank, earned)
  })
  return { entries, ...toPage(await countAuthors(db), page, limit) }
}

/** The differences between stored and recomputed reputations. */
interface Drift {
  /** The number of authors with a standing. */
  readonly authors: number
  readonly skills: ReadonlyMap<string, Counted>
  readonly standings: readonly Standing[]
  readonly badges: readonly { userId: string; current: string[]; earned: string[] }[]
}

type Counted = Credits & Pick<SkillRow, 'portable'>

/** Computes every reputation from scratch. Returns where the stored, incrementally updated values differ. */
export async function findDrift(db: Kysely<Tables>): Promise<Drift> {
  const { computed, skills } = await computeStandings(db)
  const stored = await db.selectFrom('standings').selectAll().execute()
  const standings = new Map(computed)
  for (const row of stored) {
    const author = { user_id: row.user_id, username: row.username }
    const right = standings.get(row.user_id) ?? { ...author, facts: noFacts, verified: [] }
    if (isSameStanding(right, toStanding(row)) && toReputationScore(right.facts, right.verified) === row.score) {
      standings.delete(row.user_id)
    } else {
      standings.set(row.user_id, right)
    }
  }
  return {
    authors: computed.size,
    skills,
    standings: [...standings.values()],
    badges: await findBadgeDrift(db, computed),
  }
}

/** Corrects every reputation; badges keep their dates. */
export async function recomputeStandings(trx: WriteTransaction, at: number): Promise<Drift> {
  const drift = await findDrift(trx)
  for (const [id, counted] of drift.skills) await setCredits(trx, id, counted)
  for (let i = 0; i < drift.standings.length; i += pageSize) {
    await putStandings(trx, drift.standings.slice(i, i + pageSize), at)
  }
  for (const { userId, current, earned } of drift.badges) await settleBadges(trx, userId, { current, earned, at })
  return drift
}

const pageSize = 500

/** The computed standings by user id, of all users with a standing, and the skills whose stored credits are wrong. */
async function computeStandings(db: Kysely<Tables>) {
  const credits = await countCredits(db)
  const sums = new Map<string, Facts>()
  const skills = new Map<string, Counted>()
  for await (const [stored, portable] of readRatedSkills(db)) {
    const right = { portable, ...noCredits, ...credits.get(stored.id) }
    const skill = { ...stored, ...right }
    if (countedNames.some((name) => stored[name] !== right[name])) skills.set(skill.id, right)
    sums.set(skill.owner_id, addFacts(sums.get(skill.owner_id) ?? noFacts, toFacts(skill)))
  }
  return { computed: await toStandings(db, sums), skills }
}

const countedNames = ['portable', 'credited_stars', 'credited_reviews', 'credited_points'] as const

/** Reads all skills in pages, and whether the latest version of each is portable. */
async function* readRatedSkills(db: Kysely<Tables>): AsyncGenerator<[RatedSkill, portable: number]> {
  let num = 0
  while (true) {
    const rows = await db
      .selectFrom('skills')
      .leftJoin('versions', (join) =>
        join.onRef('versions.skill_id', '=', 'skills.id').onRef('versions.version', '=', 'skills.latest_version'),
      )
      .select(ratedColumns.map((column) => `skills.${column}` as const))
      .select('versions.portable as latest_portable')
      .where('skills.num', '>', num)
      .orderBy('skills.num')
      .limit(pageSize)
      .execute()
    for (const { latest_portable, ...skill } of rows) yield [skill, latest_portable ?? 0]
    const last = rows.at(-1)
    if (!last) return
    num = last.num
  }
}

async function toStandings(db: Kysely<Tables>, sums: ReadonlyMap<string, Facts>): Promise<Map<string, Standing>> {
  const users = await db.selectFrom('users').select(['id', 'username']).execute()
  const standings = new Map<string, Standing>()
  for (let i = 0; i < users.length; i += pageSize) {
    const page = users.slice(i, i + pageSize)
    const ids = page.map(({ id }) => id)
    const methods = await readVerifiedMethods(db, ids)
    for (const { id, username } of page) {
      const facts = sums.get(id) ?? noFacts
      const verified = methods.get(id) ?? []
      if (areNoFacts(facts) && verified.length === 0) continue
      standings.set(id, { user_id: id, username, facts, verified })
    }
  }
  return standings
}

async function findBadgeDrift(db: Kysely<Tables>, standings: ReadonlyMap<string, Standing>) {
  const current = new Map<string, string[]>([...standings.keys()].map((id) => [id, []]))
  for (const { user_id, badge } of await db.selectFrom('badges').select(['user_id', 'badge']).execute()) {
    current.set(user_id, [...(current.get(user_id) ?? []), badge])
  }
  return [...current]
    .map(([userId, ids]) => {
      const standing = standings.get(userId)
      return { userId, current: ids, earned: standing ? toBadges(standing) : [] }
    })
    .filter(({ current: ids, earned }) => ids.toSorted().join() !== earned.toSorted().join())
}

function isSameStanding(one: Standing, other: Standing): boolean {
  return areNoFacts(subtractFacts(one.facts, other.facts)) && one.verified.join() === other.verified.join()
}
