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

/** What one transaction counted, by skill id, and what it left for the next. */
export interface Counted {
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
