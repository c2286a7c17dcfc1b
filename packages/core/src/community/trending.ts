import type { Trending } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CommunityContext } from './community-context.ts'
import { toSkills } from '../catalogue/shown-names.ts'
import { itemColumns } from '../catalogue/skill-document.ts'
import type { TrendRow } from '../storage/tables.ts'
import { areWindowsStale, rollAllTrends, toHour } from './trends.ts'

interface TrendingInput {
  period: TrendRow['period']
  category?: string
  limit: number
}

/**
 * A smaller category is read completely and sorted; in a larger one, the best are found by walking down the ranking.
 */
const smallCategorySkills = 1000

/** GET /trending: public skills ranked by the installs of a period and their growth over the period before. */
export async function getTrending(context: CommunityContext, input: TrendingInput, caller: Caller): Promise<Trending> {
  await rollToNow(context, input.period)
  const isSmall = input.category !== undefined && (await isSmallCategory(context, input.category))
  const ranking = selectRanking(context, input, isSmall)
  const [rows, { total }] = await Promise.all([
    readBest(ranking, input.limit),
    ranking.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  const skills = await toSkills(context, rows, caller)
  const entries = rows.map((row, i) => ({
    rank: i + 1,
    skill: skills[i]!,
    installs: row.installs,
    previousInstalls: row.previous,
    growth: (row.installs - row.previous) / Math.max(row.previous, 1),
    score: row.score,
  }))
  return { period: input.period, entries, total }
}

function readBest(ranking: ReturnType<typeof selectRanking>, limit: number) {
  return ranking
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .select(['trends.installs', 'trends.previous', 'trends.score'])
    .orderBy('trends.score', 'desc')
    .orderBy('trends.skill_id')
    .limit(limit)
    .execute()
}

function selectRanking(context: CommunityContext, { period, category }: TrendingInput, isSmall: boolean) {
  const db = context.database.read
  // SQLite reads the tables of a cross join in the given order; PostgreSQL chooses the order itself.
  const joined = isSmall ? db.selectFrom('skills').crossJoin('trends') : db.selectFrom('trends').crossJoin('skills')
  return joined
    .whereRef('trends.skill_id', '=', 'skills.id')
    .where('trends.period', '=', period)
    .where('trends.score', '>', 0)
    .where('skills.visibility', '=', 'public')
    .where('skills.state', '=', 'live')
    .where('skills.stub', '=', 0)
    .where('skills.latest_version', '!=', '')
    .$if(category !== undefined, (select) => select.where('skills.category', '=', category!))
}

async function isSmallCategory({ database }: CommunityContext, category: string): Promise<boolean> {
  const rows = database.read
    .selectFrom('skills')
    .select('category')
    .where('category', '=', category)
    .limit(smallCategorySkills)
  const { count } = await database.read
    .selectFrom(rows.as('skills'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count < smallCategorySkills
}

/** Windows move with the hours, even without installs. */
async function rollToNow({ database, clock }: CommunityContext, period: TrendRow['period']): Promise<void> {
  const hour = toHour(clock.now())
  if (await areWindowsStale(database.read, period, hour)) {
    await database.writer.write((trx) => rollAllTrends(trx, hour))
  }
}
