import type { Registry } from '@skillstead/core'
import { partsOf, type StorageContext, appendChange } from '@skillstead/core/internal'
import type { TestRegistry } from './harness.ts'

/** Appends so many entries to the public log, a few at a time, as publishing does at greater cost. */
export async function appendMany({ registry }: Pick<TestRegistry, 'registry'>, count: number): Promise<void> {
  for (let i = 0; i < count;) {
    const some = Math.min(1 + (i % 7), count - i)
    await append(partsOf(registry), i, some)
    i += some
  }
}

/** As {@link appendMany}, in a few large changes. */
export async function appendAtOnce(registry: Registry, count: number): Promise<void> {
  for (let i = 0; i < count; i += 10_000) await append(partsOf(registry), i, Math.min(10_000, count - i))
}

async function append({ database, clock }: StorageContext, first: number, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, i) => ({
    type: 'skill' as const,
    subject: `made/entry-${first + i}`,
    digest: null,
    data: { number: first + i },
  }))
  const change = { kind: 'counters' as const, subject: `made-${first}`, at: clock.now(), entries }
  await database.writer.write((trx) => appendChange(trx, change))
}
