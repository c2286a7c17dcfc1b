import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { type OutboxJob, partsOf } from '@skillstead/core/internal'
import type { TestRegistry } from './harness.ts'

export const leaseMs = 60_000

export const enqueue = ({ registry }: TestRegistry, ...jobs: OutboxJob[]) =>
  partsOf(registry).database.writer.write((trx) => partsOf(registry).outbox.enqueue(trx, ...jobs))

/** Longer than a look takes; what has not happened after it does not. */
export const letLook = () => setTimeout(60)

/** Numbered jobs without a topic, for {@link outboxOf}. */
export const makeJobs = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: { n } }))

/** Moves the clock far ahead, and on until the housekeeping believes the new time. */
export async function advanceFar(test: TestRegistry, ms: number): Promise<void> {
  test.clock.advance(ms)
  const now = test.clock.now()
  const { rowsOf } = outboxOf('housekeeping')
  await expect
    .poll(async () => (await rowsOf(test)).map(({ payload }) => JSON.parse(payload)))
    .toContainEqual({ since: now })
  test.clock.advance(60 * 60 * 1000)
}

/** What a test does with the rows of one topic. */
export function outboxOf(topic: string) {
  const rowsOf = ({ registry }: TestRegistry) =>
    partsOf(registry).database.read.selectFrom('outbox').selectAll().where('topic', '=', topic).orderBy('id').execute()
  return {
    rowsOf,
    enqueue: (test: TestRegistry, ...jobs: Omit<OutboxJob, 'topic'>[]) =>
      enqueue(test, ...jobs.map((job) => ({ topic, ...job }))),
    countDone: async (test: TestRegistry) => (await rowsOf(test)).filter(({ state }) => state === 'done').length,
  }
}
