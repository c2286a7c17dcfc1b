import { sql } from 'kysely'
import { sumSkills, type UseCounts } from '../catalogue/use-counts.ts'
import { appendChange } from '../log/append-change.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Dialect } from '../storage/dialect.ts'
import { toCountTable } from '../storage/list-query.ts'
import type { StandingRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { findWatched, takeUses, toDownloadDeliveries } from '../webhooks/download-events.ts'
import { toStanding } from './author-standings.ts'
import { settleBadges, toBadges, toScore } from './badges.ts'
import { addToDays } from './download-days.ts'

/** What one transaction counted, by skill id, and what it left for the next. */
interface Counted {
  readonly counts: ReadonlyMap<string, number>
  readonly left: UseCounts
}

/**
 * Adds downloads to skills and updates what depends on them: one entry of the change sequence for all of them, and an
 * event for each owner who subscribes. That may be too much for one transaction; the rest is returned.
 */
export async function countDownloads(
  trx: WriteTransaction,
  { dialect, outbox }: { dialect: Dialect; outbox: Pick<Outbox, 'enqueue'> },
  uses: UseCounts,
  at: number,
): Promise<Counted> {
  const watched = await findWatched(trx, dialect, sumSkills(uses).keys())
  const { taken, left } = takeUses(uses, watched)
  const counts = sumSkills(taken)
  await sql`update skills set downloads = downloads + c.n from ${toCountTable(dialect, counts)} as c
    where skills.id = c.id`.execute(trx)
  await addToDays(trx, dialect, counts, at)
  await creditDownloads(trx, dialect, counts, at)
  await appendChange(trx, { kind: 'counters', subject: [...counts.keys()].join(','), at, entries: [] })
  const deliveries = toDownloadDeliveries(taken, watched, at)
  if (deliveries.length > 0) await outbox.enqueue(trx, ...deliveries)
  return { counts, left }
}

/**
 * Credits the owners of skills with downloads, by skill id; only skills that count. Runs continuously while a node is
 * used: three constant statements for any number of skills.
 */
async function creditDownloads(
  trx: WriteTransaction,
  dialect: Dialect,
  downloads: ReadonlyMap<string, number>,
  at: number,
): Promise<void> {
  const added = await readAdded(trx, dialect, downloads)
  if (added.size === 0) return
  const standings = await readStandings(trx, dialect, added)
  const scores = new Map<string, number>()
  for (const { user_id, facts, verified } of standings.map(toStanding)) {
    const after = { ...facts, downloads: facts.downloads + added.get(user_id)! }
    scores.set(user_id, toScore(after, verified))
    const [current, earned] = [toBadges(facts, verified), toBadges(after, verified)]
    await settleBadges(trx, user_id, { current, earned, at })
  }
  await sql`update standings set downloads = standings.downloads + added.n, score = scored.n, computed_at = ${at}
    from ${toCountTable(dialect, added)} as added, ${toCountTable(dialect, scores)} as scored
    where standings.user_id = added.id and scored.id = added.id`.execute(trx)
}

/** What each owner gains. An owner of a skill that counts has a standing. */
async function readAdded(trx: WriteTransaction, dialect: Dialect, downloads: ReadonlyMap<string, number>) {
  const { rows } = await sql<{ owner_id: string; n: number }>`
    select skills.owner_id, cast(sum(counted.n) as bigint) as n
    from ${toCountTable(dialect, downloads)} as counted join skills on skills.id = counted.id
    where skills.visibility = 'public' and skills.state = 'live' and skills.stub = 0 and skills.latest_version <> ''
    group by skills.owner_id`.execute(trx)
  return new Map(rows.map(({ owner_id, n }) => [owner_id, n]))
}

async function readStandings(trx: WriteTransaction, dialect: Dialect, added: ReadonlyMap<string, number>) {
  const { rows } = await sql<StandingRow>`select standings.* from ${toCountTable(dialect, added)} as added
    join standings on standings.user_id = added.id`.execute(trx)
  return rows
}
