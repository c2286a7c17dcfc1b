import { type OutboxRow, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { toPage } from '../kernel/paging.ts'
import { recordAudit } from '../log/audit.ts'
import { toAttempts } from '../outbox/attempts.ts'
import { selectInState } from '../outbox/rows.ts'
import { countRows } from '../storage/count-rows.ts'
import type { Database } from '../storage/database.ts'
import type { OutboxRow as StoredRow } from '../storage/tables.ts'

/** Maximum number of rows that are counted by topic for each state: counting reads each row. */
const countedMax = 100_000

/**
 * GET /operator/outbox: one state after the other, pending jobs by due time, ended ones newest first. Default: failed
 * jobs, then pending ones.
 */
export async function listOutbox(context: AccountsContext, { state, kind, page, limit }: Input<'listOutbox'>) {
  const { read } = context.database
  const rows: OutboxRow[] = []
  let total = 0
  for (const each of state === undefined ? (['failed', 'pending'] as const) : [state]) {
    const chosen = selectInState(read, each).$if(kind !== undefined, (select) => select.where('topic', '=', kind!))
    const count = await countRows(chosen)
    const offset = Math.max(0, (page - 1) * limit - total)
    total += count
    if (rows.length === limit || offset >= count) continue
    const isPending = each === 'pending'
    const found = chosen.select(shownColumns).orderBy(isPending ? 'claimable_at' : 'due_at', isPending ? 'asc' : 'desc')
    rows.push(
      ...(
        await found
          .orderBy('id')
          .limit(limit - rows.length)
          .offset(offset)
          .execute()
      ).map(toOutboxRow),
    )
  }
  return { rows, counts: await countTopics(context.database), ...toPage(total, page, limit) }
}

/** Counts the pending and failed rows of each topic, by topic name. */
async function countTopics({ read }: Database) {
  const counts = new Map<string, { pending: number; failed: number }>()
  for (const state of ['pending', 'failed'] as const) {
    const some = selectInState(read, state).select('topic').limit(countedMax)
    const rows = await read
      .selectFrom(some.as('some'))
      .select((eb) => ['topic', eb.fn.countAll<number>().as('count')])
      .groupBy('topic')
      .execute()
    for (const { topic, count } of rows) {
      counts.set(topic, { pending: 0, failed: 0, ...counts.get(topic), [state]: count })
    }
  }
  return [...counts].map(([kind, count]) => ({ kind, ...count })).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
}

/** POST /operator/outbox/<id>/retry: a new attempt at once. Throws `invalid_transition` for a completed job. */
export async function retryOutboxRow(
  { database, outbox, clock }: AccountsContext,
  { id }: Input<'retryOutboxRow'>,
  caller: Caller,
): Promise<OutboxRow> {
  return database.writer.write(async (trx) => {
    const rows = trx.selectFrom('outbox').select(shownColumns).where('id', '=', id)
    const found = await rows.executeTakeFirst()
    if (!found) throw new RegistryError('not_found', 'The outbox has no row with this id.')
    if (found.state === 'done')
      throw new RegistryError(
        'invalid_transition',
        'This job is complete. Only pending and failed jobs can be retried.',
      )
    await outbox.retry(trx, found.partition, id)
    await recordAudit(trx, { caller, action: 'outbox.retry', subject: found.topic, at: clock.now(), data: { id } })
    return toOutboxRow(await rows.executeTakeFirstOrThrow())
  })
}

/** The columns that operators see. Not the payload, which may be private, such as the body of a delivery. */
const shownColumns = ['id', 'topic', 'partition', 'state', 'attempts', 'attempt_log', 'due_at', 'created_at'] as const

function toOutboxRow(row: Pick<StoredRow, (typeof shownColumns)[number]>): OutboxRow {
  const { id, topic, partition, state, attempts, attempt_log, due_at, created_at } = row
  return {
    id,
    kind: topic,
    partition,
    state,
    attempts,
    lastError: toAttempts(attempt_log).at(-1)?.error ?? null,
    nextAt: state === 'pending' ? toTimestamp(due_at) : null,
    createdAt: toTimestamp(created_at),
  }
}
