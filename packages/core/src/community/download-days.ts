import type { Downloads } from '@skillstead/protocol'
import { sql } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import { getSkill } from '../catalogue/skills/find-skill.ts'
import { sumUsesBySkill, type UseCounts } from '../catalogue/context/use-counts.ts'
import { dayMs } from '../kernel/clock.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { appendChange } from '../log/append-change.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../storage/database.ts'
import type { Dialect } from '../storage/dialect.ts'
import { addDownloads } from '../catalogue/skills/skill-counters.ts'
import { toCountTable, toRowTable } from '../storage/list-query.ts'
import type { StandingRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { findWatched, takeUses, toDownloadDeliveries } from '../webhooks/download-events.ts'
import { toStanding } from './author-standings.ts'
import { settleBadges, toBadges, toReputationScore } from './badges.ts'
import type { CommunityContext } from './community-context.ts'
import { listedCondition } from '../visibility/conditions.ts'
import { requireRight } from '../visibility/rights.ts'

/**
 * Adds downloads to the counters of skills and days and to the reputation of owners. Appends one entry to the change
 * sequence for all skills, and enqueues events for owners who subscribe to downloads. Returns the counted downloads by
 * skill, and the downloads that did not fit into this transaction.
 */
export async function countDownloads(
  trx: WriteTransaction,
  { dialect, outbox }: { dialect: Dialect; outbox: Pick<Outbox, 'enqueue'> },
  uses: UseCounts,
  at: number,
) {
  const watched = await findWatched(trx, dialect, sumUsesBySkill(uses).keys())
  const { taken, left } = takeUses(uses, watched)
  const counts = sumUsesBySkill(taken)
  await addDownloads(trx, dialect, counts)
  await addToDays(trx, dialect, counts, at)
  await creditDownloads(trx, dialect, counts, at)
  await appendChange(trx, { kind: 'counters', subject: [...counts.keys()].join(','), at, entries: [] })
  const deliveries = toDownloadDeliveries(taken, watched, at)
  if (deliveries.length > 0) await outbox.enqueue(trx, ...deliveries)
  return { counts, left }
}

/**
 * Adds downloads, by skill id, to the reputation of owners, for skills that count for reputation. Runs continuously
 * while a node is used, so it takes three statements for any number of skills, apart from changed badges.
 */
async function creditDownloads(
  trx: WriteTransaction,
  dialect: Dialect,
  downloads: ReadonlyMap<string, number>,
  at: number,
): Promise<void> {
  const added = await readAddedByOwner(trx, dialect, downloads)
  if (added.size === 0) return
  const standings = await readStandings(trx, dialect, added)
  const scores = new Map<string, number>()
  for (const standing of standings.map(toStanding)) {
    const { user_id, verified } = standing
    const facts = { ...standing.facts, downloads: standing.facts.downloads + added.get(user_id)! }
    scores.set(user_id, toReputationScore(facts, verified))
    const [current, earned] = [toBadges(standing), toBadges({ facts, verified })]
    await settleBadges(trx, user_id, { current, earned, at })
  }
  await sql`update standings set downloads = standings.downloads + added.n, score = scored.n, computed_at = ${at}
    from ${toCountTable(dialect, added)} as added, ${toCountTable(dialect, scores)} as scored
    where standings.user_id = added.id and scored.id = added.id`.execute(trx)
}

/** The downloads per owner, of skills that count for reputation. Each such owner has a row in `standings`. */
async function readAddedByOwner(trx: WriteTransaction, dialect: Dialect, downloads: ReadonlyMap<string, number>) {
  const { rows } = await sql<{ owner_id: string; n: number }>`
    select skills.owner_id, cast(sum(counted.n) as bigint) as n
    from ${toCountTable(dialect, downloads)} as counted join skills on skills.id = counted.id
    where ${listedCondition}
    group by skills.owner_id`.execute(trx)
  return new Map(rows.map(({ owner_id, n }) => [owner_id, n]))
}

async function readStandings(trx: WriteTransaction, dialect: Dialect, added: ReadonlyMap<string, number>) {
  const { rows } = await sql<StandingRow>`select standings.* from ${toCountTable(dialect, added)} as added
    join standings on standings.user_id = added.id`.execute(trx)
  return rows
}

const hoursOfDay = 24

/**
 * GET /skills/<name>/downloads: one entry for each of the last days in UTC, including days without downloads; today
 * last. Callers who may read the skill may group the counts by version; only those who may manage it may group them by
 * client.
 */
export const showDownloads: Operation<'getDownloads', StorageContext> = async (context, { name, days, by }, caller) => {
  const skill = await getSkill(context, name, caller)
  if (by === 'client') await requireRight(context.database.read, skill, caller, 'manage')
  const { id } = skill
  const today = toDay(context.clock.now())
  const wanted = Array.from({ length: days }, (_, i) => today - days + 1 + i)
  const downloads = await readDownloads(context.database, id, wanted)
  const installs = await readInstalls(context.database, id, wanted)
  const shown = wanted.map((day) => ({
    day: toDate(day),
    // An install counts as a download, too. Days from before downloads were counted by day have only installs.
    downloads: Math.max(downloads.get(day) ?? 0, installs.get(day) ?? 0),
    installs: installs.get(day) ?? 0,
  }))
  const sum = (of: 'downloads' | 'installs') => shown.reduce((total, day) => total + day[of], 0)
  const totals = { downloads: sum('downloads'), installs: sum('installs') }
  const groups = by === undefined ? undefined : await readGroups(context.database, id, wanted, by, totals)
  return { days: shown, total: totals.downloads, ...(groups && { groups }) }
}

/** Maximum number of groups in a response; the group `other` has the rest. */
const groupsMax = 50

/**
 * Downloads and installs by version or client, most downloads first. The group `other` comes last. It has the counts of
 * further groups, the installs that clients reported to `POST /track`, which names no version, and the counts from
 * before groups were stored.
 */
async function readGroups(
  { dialect, read }: Database,
  id: string,
  wanted: readonly number[],
  by: 'version' | 'client',
  totals: { readonly downloads: number; readonly installs: number },
) {
  const { rows: groups } = await sql<NonNullable<Downloads['groups']>[number]>`select ${sql.ref(by)} as name,
    cast(sum(downloads) as bigint) as downloads, cast(sum(installs) as bigint) as installs from download_details
    where skill_id = ${id} and ${isOneOfNumbers(dialect, 'day', wanted)}
    group by ${sql.ref(by)} order by 2 desc, 3 desc, 1 limit ${groupsMax}`.execute(read)
  const rest = { name: 'other', ...totals }
  for (const { downloads, installs } of groups) {
    rest.downloads -= downloads
    rest.installs -= installs
  }
  return rest.downloads > 0 || rest.installs > 0
    ? [...groups, { ...rest, downloads: Math.max(0, rest.downloads), installs: Math.max(0, rest.installs) }]
    : groups
}

type ByDay = ReadonlyMap<number, number>

async function readDownloads({ dialect, read }: Database, skillId: string, days: readonly number[]): Promise<ByDay> {
  const { rows } = await sql<{ day: number; n: number }>`select day, downloads as n from download_days
    where skill_id = ${skillId} and ${isOneOfNumbers(dialect, 'day', days)}`.execute(read)
  return new Map(rows.map(({ day, n }) => [day, n]))
}

/** Reads the installs by day and by hour in one statement, because hours are merged into days concurrently. */
async function readInstalls({ dialect, read }: Database, skillId: string, days: readonly number[]): Promise<ByDay> {
  const hours = days.flatMap((day) => Array.from({ length: hoursOfDay }, (_, i) => day * hoursOfDay + i))
  const { rows } = await sql<{ day: number; n: number }>`
    select day, installs as n from install_days
      where skill_id = ${skillId} and ${isOneOfNumbers(dialect, 'day', days)}
    union all select hour / ${sql.lit(hoursOfDay)}, installs from install_hours
      where skill_id = ${skillId} and ${isOneOfNumbers(dialect, 'hour', hours)}`.execute(read)
  const counts = new Map<number, number>()
  for (const { day, n } of rows) counts.set(day, (counts.get(day) ?? 0) + n)
  return counts
}

/**
 * Whether a column has one of the numbers. Compares with each number separately: the primary key begins with the day or
 * hour, so a range would read the rows of all skills.
 */
function isOneOfNumbers(dialect: Dialect, column: string, numbers: readonly number[]) {
  const json = JSON.stringify(numbers)
  return dialect === 'sqlite'
    ? sql`${sql.ref(column)} in (select value from json_each(${json}))`
    : sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)::bigint))`
}

/** Number of days whose counts are stored: a year and the current day. The API returns no more. */
const keptDays = 366

/** A day as whole days since 1970, in UTC. */
export function toDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs)
}

/** The date of a day from {@link toDay}, such as `2026-11-30`. */
export function toDate(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Adds downloads, by skill id, to the day on which they happened. */
async function addToDays(trx: WriteTransaction, dialect: Dialect, counts: ReadonlyMap<string, number>, at: number) {
  await sql`insert into download_days (skill_id, day, downloads)
    select c.id, ${toDay(at)}, c.n from ${toCountTable(dialect, counts)} as c where true
    on conflict (day, skill_id) do update set downloads = download_days.downloads + excluded.downloads`.execute(trx)
}

/** Downloads and installs of a version on a day by a kind of client. */
export type CountedUse = Tables['download_details']

/** Adds downloads and installs to their day, version and kind of client. */
export async function addDetails(trx: WriteTransaction, dialect: Dialect, uses: readonly CountedUse[]): Promise<void> {
  const texts = { skill_id: 'text', version: 'text', client: 'text' } as const
  const columns = { ...texts, day: 'whole', downloads: 'whole', installs: 'whole' } as const
  await sql`insert into download_details (skill_id, day, version, client, downloads, installs)
    select skill_id, day, version, client, downloads, installs from ${toRowTable(dialect, columns, uses)} as u where true
    on conflict (day, skill_id, version, client) do update set
      downloads = download_details.downloads + excluded.downloads,
      installs = download_details.installs + excluded.installs`.execute(trx)
}

/** Deletes counts of days that the API no longer returns, and last installs of users on these days. */
export async function sweepDays({ database, clock }: Pick<CommunityContext, 'database' | 'clock'>): Promise<void> {
  const oldest = toDay(clock.now()) - keptDays
  await database.writer.write(async (trx) => {
    for (const table of ['download_days', 'download_details', 'installers'] as const)
      await trx.deleteFrom(table).where('day', '<', oldest).execute()
  })
}
