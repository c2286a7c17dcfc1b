import type { Database, StorageContext, WriteTransaction } from '@skillstead/core/internal'
import { toStoredSubject } from './upstream-log.ts'
import type { MirrorOutcome } from '../applying/mirrored-types.ts'
import type { StoredRefusal, Upstream } from '../types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * The stored refusals of an upstream: entries and releases that were not imported, with the reason. They are updated in
 * the transactions of a run.
 */
export interface Refusals {
  record(trx: WriteTransaction, subject: string, outcome: MirrorOutcome): Promise<void>
  /** Deletes the refusal of a subject. */
  forget(trx: WriteTransaction, subject: string): Promise<void>
}

/** Opens the refusals of an upstream. Loads their subjects, so that an import deletes only existing refusals. */
export async function createRefusals(
  { database, clock }: StorageContext,
  upstream: Pick<Upstream, 'name'>,
): Promise<Refusals> {
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_refusals')
    .select('subject')
    .where('upstream', '=', upstream.name)
    .execute()
  const refused = new Set(rows.map(({ subject }) => subject))
  return {
    async record(trx, given, outcome) {
      const subject = toStoredSubject(given)
      if (outcome.result === 'refused') {
        const { reason, detail } = outcome
        await withUpstreams(trx)
          .insertInto('upstream_refusals')
          .values({ upstream: upstream.name, subject, reason, detail, at: clock.now(), tries: 0 })
          .onConflict((conflict) =>
            conflict
              .columns(['upstream', 'subject'])
              .doUpdateSet((eb) => ({ reason, detail, at: clock.now(), tries: eb('upstream_refusals.tries', '+', 1) })),
          )
          .execute()
        refused.add(subject)
      } else if (outcome.result === 'applied' && refused.has(subject)) await forget(trx, subject)
    },
    forget,
  }

  async function forget(trx: WriteTransaction, subject: string): Promise<void> {
    await withUpstreams(trx)
      .deleteFrom('upstream_refusals')
      .where('upstream', '=', upstream.name)
      .where('subject', '=', subject)
      .execute()
  }
}

/** Lists the refusals of an upstream, newest first. */
export async function listRefusals(read: Database['read'], upstream: string, limit: number): Promise<StoredRefusal[]> {
  return withUpstreams(read)
    .selectFrom('upstream_refusals')
    .select(['subject', 'reason', 'detail', 'at'])
    .where('upstream', '=', upstream)
    .orderBy('at', 'desc')
    .orderBy('subject')
    .limit(limit)
    .execute()
}

/** The number of refusals of each upstream. */
export async function countRefusals(read: Database['read']): Promise<Map<string, number>> {
  const rows = await withUpstreams(read)
    .selectFrom('upstream_refusals')
    .select((eb) => ['upstream', eb.fn.countAll<number>().as('count')])
    .groupBy('upstream')
    .execute()
  return new Map(rows.map(({ upstream, count }) => [upstream, Number(count)]))
}
