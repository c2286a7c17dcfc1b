import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { toNamedItems } from '../catalogue/versions/shown-names.ts'
import { itemColumns } from '../catalogue/versions/skill-document.ts'
import type { Caller } from '../kernel/caller.ts'
import { hourMs } from '../kernel/clock.ts'
import type { Input } from '../kernel/operation-input.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Dialect } from '../storage/dialect.ts'
import { toCountTable } from '../storage/list-query.ts'
import { findMeta, putMeta } from '../storage/meta.ts'
import type { Tables, TrendRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CommunityContext } from './community-context.ts'
import { listedCondition } from '../visibility/conditions.ts'

type Period = TrendRow['period']

/** The length of each period in hours; the period before it is equally long. */
const periodHours: Readonly<Record<Period, number>> = { day: 24, week: 7 * 24, month: 30 * 24 }
const periods: readonly Period[] = ['day', 'week', 'month']

/** Whole hours since 1970. */
export function toHour(epochMs: number): number {
  return Math.floor(epochMs / hourMs)
}

/** Installs by skill id, and the hour in which they happened. */
interface HourOfInstalls {
  readonly hour: number
  /** The hour with which the current windows of every period end. */
  readonly now: number
  readonly counts: ReadonlyMap<string, number>
}

/** Adds installs to their hour and to the windows of every period. */
export async function addInstalls(trx: WriteTransaction, dialect: Dialect, installs: HourOfInstalls): Promise<void> {
  const { hour, counts } = installs
  await sql`insert into install_hours (skill_id, hour, installs)
    select c.id, ${hour}, c.n from ${toCountTable(dialect, counts)} as c where true
    on conflict (hour, skill_id) do update set installs = install_hours.installs + excluded.installs`.execute(trx)
  await addToTrends(trx, dialect, installs)
}

/**
 * Adds installs of an hour to the windows of every period, which must end with the hour `now`.
 *
 * The sums are updated incrementally, since a month has millions of rows in `install_hours`. The score is the number of
 * installs plus their growth, if any, over the previous period.
 */
async function addToTrends(trx: WriteTransaction, dialect: Dialect, { hour, now, counts }: HourOfInstalls) {
  const age = now - hour
  const columns = [
    { column: 'installs', of: periods.filter((period) => age < periodHours[period]) },
    {
      column: 'previous',
      of: periods.filter((period) => age >= periodHours[period] && age < 2 * periodHours[period]),
    },
  ] as const
  for (const { column, of } of columns) {
    if (of.length === 0) continue
    const [installs, previous] = column === 'installs' ? [sql`c.n`, sql`0`] : [sql`0`, sql`c.n`]
    const names = sql.join(
      of.map((period) => sql`select ${sql.lit(period)} as name`),
      sql` union all `,
    )
    await sql`insert into trends (period, skill_id, installs, previous, score)
      select p.name, c.id, ${installs}, ${previous}, ${toTrendScore(installs, previous)}
      from ${toCountTable(dialect, counts)} as c cross join (${names}) as p where true
      on conflict (period, skill_id) do update set ${sql.ref(column)} = ${toWindowSum(column)},
        score = ${toTrendScore(toWindowSum('installs'), toWindowSum('previous'))}`.execute(trx)
  }
}

/**
 * Moves the windows of a period from one hour to a later hour: adds and subtracts the installs of the hours that enter
 * and leave a window.
 */
async function rollTrends(trx: WriteTransaction, period: Period, from: number, to: number): Promise<void> {
  const hours = periodHours[period]
  // Hours that are older than the period leave the current window and enter the previous window, unless they are too
  // old for the previous window, too.
  const leaving = { first: from - hours + 1, last: Math.min(to - hours, from) }
  const arriving = { first: Math.max(leaving.first, to - 2 * hours + 1), last: leaving.last }
  const passing = { first: from - 2 * hours + 1, last: Math.min(to - 2 * hours, from - hours) }
  await addBuckets(trx, period, { column: 'previous', sign: -1 }, passing)
  await addBuckets(trx, period, { column: 'installs', sign: -1 }, leaving)
  await addBuckets(trx, period, { column: 'previous', sign: 1 }, arriving)
  await trx
    .deleteFrom('trends')
    .where('period', '=', period)
    .where('installs', '=', 0)
    .where('previous', '=', 0)
    .execute()
}

/** Computes the windows of a period again from the installs by hour, so that they end with `hour`. */
async function rebuildTrends(trx: WriteTransaction, period: Period, hour: number): Promise<void> {
  await moveFutureHours(trx, hour)
  const begin = hour - periodHours[period]
  await trx.deleteFrom('trends').where('period', '=', period).execute()
  const [installs, previous] = [sql`sums.installs`, sql`sums.previous`]
  await sql`insert into trends (period, skill_id, installs, previous, score)
    select ${period}, sums.skill_id, ${installs}, ${previous}, ${toTrendScore(installs, previous)}
    from (
      select skill_id,
        cast(sum(case when hour > ${begin} then installs else 0 end) as bigint) as installs,
        cast(sum(case when hour > ${begin} then 0 else installs end) as bigint) as previous
      from install_hours where hour > ${begin - periodHours[period]} group by skill_id
    ) as sums`.execute(trx)
}

/** Moves counts of future hours, from a clock that was ahead, to the current hour. */
async function moveFutureHours(trx: WriteTransaction, hour: number): Promise<void> {
  await sql`insert into install_hours (skill_id, hour, installs)
    select skill_id, ${hour}, cast(sum(installs) as bigint) from install_hours where hour > ${hour} group by skill_id
    on conflict (hour, skill_id) do update set installs = install_hours.installs + excluded.installs`.execute(trx)
  await trx.deleteFrom('install_hours').where('hour', '>', hour).execute()
}

/** Adds the installs of a range of hours to one window of a period, or subtracts them. */
async function addBuckets(
  trx: WriteTransaction,
  period: Period,
  { column, sign }: { column: 'installs' | 'previous'; sign: 1 | -1 },
  { first, last }: { first: number; last: number },
): Promise<void> {
  if (first > last) return
  const after = sql`trends.${sql.ref(column)} + ${sql.lit(sign)} * bucket.n`
  const [installs, previous] = column === 'installs' ? [after, sql`trends.previous`] : [sql`trends.installs`, after]
  await sql`update trends set ${sql.ref(column)} = ${after}, score = ${toTrendScore(installs, previous)}
    from (
      select skill_id, cast(sum(installs) as bigint) as n from install_hours
      where hour >= ${first} and hour <= ${last} group by skill_id
    ) as bucket
    where trends.period = ${period} and trends.skill_id = bucket.skill_id`.execute(trx)
}

function toWindowSum(column: 'installs' | 'previous'): RawBuilder<unknown> {
  return sql`trends.${sql.ref(column)} + excluded.${sql.ref(column)}`
}

function toTrendScore(installs: RawBuilder<unknown>, previous: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${installs} + case when ${installs} > ${previous} then ${installs} - (${previous}) else 0 end`
}

/** The maximum clock difference between nodes, in hours: windows further ahead were moved by a wrong clock. */
const skewHoursMax = 2

/** Whether the windows of a period must be moved before they are read at `hour`. */
async function areWindowsStale(db: Kysely<Tables>, period: Period, hour: number): Promise<boolean> {
  const stands = await findWindowHour(db, period)
  return stands !== undefined && !isCurrentHour(stands, hour)
}

/**
 * Moves the windows of every period to an hour. Returns the hour with which they end, which is later if the clock of
 * another node is ahead.
 */
export async function rollAllTrends(trx: WriteTransaction, hour: number): Promise<number> {
  let latest = hour
  for (const period of periods) {
    const stands = await findWindowHour(trx, period)
    if (stands !== undefined && isCurrentHour(stands, hour)) {
      latest = Math.max(latest, stands)
      continue
    }
    if (stands !== undefined && stands > hour) await rebuildTrends(trx, period, hour)
    else if (stands !== undefined) await rollTrends(trx, period, stands, hour)
    await putMeta(trx, toPeriodKey(period), String(hour))
  }
  return latest
}

function isCurrentHour(stands: number, hour: number): boolean {
  return stands >= hour && stands <= hour + skewHoursMax
}

/** The hour to which the windows of a period were last moved; undefined before the first install. */
async function findWindowHour(db: Kysely<Tables>, period: Period): Promise<number | undefined> {
  const hour = await findMeta(db, toPeriodKey(period))
  return hour === undefined ? undefined : Number(hour)
}

function toPeriodKey(period: Period): string {
  return `trends.${period}`
}

const hoursOfDay = 24
/** The age, in hours, from which rows of `install_hours` belong to no current or previous period. */
const keptHours = 2 * periodHours.month

/** Merges installs by hour that are no longer needed into days, one day at a time. */
export async function rollUpInstalls(context: Pick<CommunityContext, 'database' | 'clock'>): Promise<void> {
  while (await rollUpDay(context));
}

async function rollUpDay({ database, clock }: Pick<CommunityContext, 'database' | 'clock'>): Promise<boolean> {
  const { oldest } = await database.read
    .selectFrom('install_hours')
    .select((eb) => eb.fn.min<number | null>('hour').as('oldest'))
    .executeTakeFirstOrThrow()
  if (oldest === null) return false
  const day = Math.floor(oldest / hoursOfDay)
  const end = (day + 1) * hoursOfDay
  const now = toHour(clock.now())
  if (end > now - keptHours) return false
  await database.writer.write(async (trx) => {
    // Windows that still contain these hours must subtract their installs before the rows are deleted.
    await rollAllTrends(trx, now)
    await sql`insert into install_days (skill_id, day, installs)
      select skill_id, ${day}, cast(sum(installs) as bigint) from install_hours
      where hour >= ${day * hoursOfDay} and hour < ${end} group by skill_id
      on conflict (day, skill_id) do update set installs = install_days.installs + excluded.installs`.execute(trx)
    await trx.deleteFrom('install_hours').where('hour', '<', end).execute()
  })
  return true
}

/**
 * A category with fewer skills is read completely and sorted. A larger category is read in the order of the ranking.
 */
const smallCategorySkills = 1000

/**
 * GET /trending: public skills ranked by the installs of a period and their growth over the period before, in the
 * windows that {@link rollTrendsToNow} has moved.
 */
export async function getTrending(context: StorageContext, input: Input<'getTrending'>, caller: Caller) {
  const isSmall = input.category !== undefined && (await isSmallCategory(context, input.category))
  const ranking = selectRanking(context, input, isSmall)
  const [rows, total] = await Promise.all([readBestTrends(ranking, input.limit), countRows(ranking)])
  const skills = await toNamedItems(context, rows, caller)
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

function readBestTrends(ranking: ReturnType<typeof selectRanking>, limit: number) {
  return ranking
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .select(['trends.installs', 'trends.previous', 'trends.score'])
    .orderBy('trends.score', 'desc')
    .orderBy('trends.skill_id')
    .limit(limit)
    .execute()
}

function selectRanking(context: StorageContext, { period, category }: Input<'getTrending'>, isSmall: boolean) {
  const db = context.database.read
  // SQLite reads the tables of a cross join in the given order; PostgreSQL chooses the order itself.
  const joined = isSmall ? db.selectFrom('skills').crossJoin('trends') : db.selectFrom('trends').crossJoin('skills')
  return joined
    .whereRef('trends.skill_id', '=', 'skills.id')
    .where('trends.period', '=', period)
    .where('trends.score', '>', 0)
    .where(listedCondition)
    .$if(category !== undefined, (select) => select.where('skills.category', '=', category!))
}

async function isSmallCategory({ database }: StorageContext, category: string): Promise<boolean> {
  const rows = database.read
    .selectFrom('skills')
    .select('category')
    .where('category', '=', category)
    .limit(smallCategorySkills)
  return (await countRows(database.read.selectFrom(rows.as('skills')))) < smallCategorySkills
}

/** Moves the windows of all periods to the current hour if those of `period` are stale, even without installs. */
export async function rollTrendsToNow({ database, clock }: StorageContext, period: TrendRow['period']): Promise<void> {
  const hour = toHour(clock.now())
  if (await areWindowsStale(database.read, period, hour)) {
    await database.writer.write((trx) => rollAllTrends(trx, hour))
  }
}
