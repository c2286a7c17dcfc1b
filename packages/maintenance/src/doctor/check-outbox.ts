import { attempt } from '@skillstead/protocol'
import { type CatalogueContext, readPages } from '@skillstead/core/internal'
import { type Check, type Faults } from './finding.ts'

const pageRows = 500

/** Finds jobs that cannot be parsed. Overdue jobs are not a fault: perhaps no node has run for a while. */
export const outboxCheck: Check = {
  name: 'outbox',
  async run(context, _tell, faults) {
    await findUnreadable(context, faults)
    return faults.toOutcome(await describeOutbox(context), 'Find out with mirror outbox or the webhook what was lost.')
  },
}

async function describeOutbox({ outbox, clock }: CatalogueContext): Promise<string> {
  const { pending, failed, oldestDueAt } = await outbox.figures()
  const minutes = oldestDueAt === null ? 0 : Math.floor((clock.now() - oldestDueAt) / 60_000)
  const overdue = minutes < 1 ? '' : `, one of them overdue for ${toDuration(minutes)}: does a node run?`
  return `${failed} failed, ${pending} waiting${overdue || '.'}`
}

function toDuration(minutes: number): string {
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} days`
}

async function findUnreadable({ database }: CatalogueContext, faults: Faults): Promise<void> {
  const read = (after: string) =>
    database.read
      .selectFrom('outbox')
      .select(['id', 'topic', 'payload', 'attempt_log'])
      .where('id', '>', after)
      .where('state', '=', 'pending')
      .orderBy('id')
      .limit(pageRows)
      .execute()
  for await (const rows of readPages('', read, ({ id }) => id)) {
    for (const { id, topic, payload, attempt_log } of rows) {
      const parsed = attempt(() => [payload, attempt_log].map((text): unknown => JSON.parse(text)))
      if (!parsed) faults.add(`Row ${id} of ${topic} in the outbox is not valid JSON.`)
    }
  }
}
