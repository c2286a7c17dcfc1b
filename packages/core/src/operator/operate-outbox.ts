import { type OutboxRow, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { JobSummary } from '../outbox/outbox.ts'
import { toPage } from '../kernel/paging.ts'

/** GET /operator/outbox. Default: failed jobs, newest first, then pending jobs by due time. */
export async function listOutbox(context: AccountsContext, { state, kind, page, limit }: Input<'listOutbox'>) {
  const states = state === undefined ? (['failed', 'pending'] as const) : [state]
  const { rows, total } = await context.outbox.browse({ states, topic: kind, page, limit })
  return { rows: rows.map(toOutboxRow), counts: await context.outbox.countTopics(), ...toPage(total, page, limit) }
}

/** POST /operator/outbox/<id>/retry: a new attempt at once. Throws `invalid_transition` for a completed job. */
export async function retryOutboxRow(
  context: AccountsContext,
  { id }: Input<'retryOutboxRow'>,
  caller: Caller,
): Promise<OutboxRow> {
  const { database, outbox, clock } = context
  return database.writer.write(async (trx) => {
    const row = await trx.selectFrom('outbox').select(['partition', 'topic']).where('id', '=', id).executeTakeFirst()
    const job = row && (await outbox.retry(trx, row.partition, id))
    if (!job) throw new RegistryError('not_found', 'The outbox has no row with this id.')
    if (job.state === 'done')
      throw new RegistryError(
        'invalid_transition',
        'This job is complete. Only pending and failed jobs can be retried.',
      )
    await recordAudit(trx, { caller, action: 'outbox.retry', subject: row.topic, at: clock.now(), data: { id } })
    return toOutboxRow({ ...job, ...row, attemptsMade: job.attempts.at(-1)?.number ?? 0 })
  })
}

/** Leaves out the payload, which may be private, such as the body of a delivery. */
function toOutboxRow({ id, topic, partition, state, attempts, attemptsMade, dueAt, createdAt }: JobSummary): OutboxRow {
  return {
    id,
    kind: topic,
    partition,
    state,
    attempts: attemptsMade,
    lastError: attempts.at(-1)?.error ?? null,
    nextAt: state === 'pending' ? toTimestamp(dueAt) : null,
    createdAt: toTimestamp(createdAt),
  }
}
