import { sql } from 'kysely'
import { appendChange } from '../log/append-change.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { creditDownloads } from './credit-downloads.ts'
import { toCountTable } from '../storage/list-query.ts'
import type { Dialect } from '../storage/dialect.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { findWatched, takeUses, toDownloadDeliveries } from '../webhooks/download-events.ts'
import { addToDays } from './download-days.ts'
import { sumSkills, type UseCounts } from '../catalogue/use-counts.ts'

/** What one transaction counted, by the ids of the skills, and what it left for the next. */
export interface Counted {
  readonly counts: ReadonlyMap<string, number>
  readonly left: UseCounts
}

/**
 * Adds downloads to skills with all that follows: one change of the sequence tells of all of them, and owners who asked
 * for it are told of each. That may be more than one transaction should hold; the rest is for another.
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
