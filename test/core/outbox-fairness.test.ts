import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type OutboxJob, partsOf } from '@skillstead/core/internal'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'

const topic = 'fair'

interface Work {
  readonly partition: string
  readonly host?: string
  readonly count: number
}

const enqueue = async ({ registry }: TestRegistry, ...work: Work[]) => {
  const jobs = work.flatMap(({ partition, host, count }) =>
    Array.from({ length: count }, (_, n): OutboxJob => ({ topic, partition, host, payload: { partition, host, n } })),
  )
  await partsOf(registry).database.writer.write((trx) => partsOf(registry).outbox.enqueue(trx, ...jobs))
}

const countBy = async ({ registry }: TestRegistry, state: 'pending' | 'done', partitions: readonly string[]) => {
  const { count } = await partsOf(registry)
    .database.read.selectFrom('outbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('topic', '=', topic)
    .where('state', '=', state)
    .where('partition', 'in', partitions)
    .executeTakeFirstOrThrow()
  return count
}

/**
 * A handler that hangs in the queues chosen by `hangs` until it is released, and takes a moment in the others. It
 * counts concurrent runs.
 */
function createHandler(
  hangs: (partition: string) => boolean,
  takeMoment: () => Promise<unknown> = () => setTimeout(1),
) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const seen = new Map<string, number>()
  const count = (key: string, step: number) => {
    running.set(key, (running.get(key) ?? 0) + step)
    most.set(key, Math.max(most.get(key) ?? 0, running.get(key)!))
  }
  const countAll = (partition: string, host: unknown, step: number) => {
    for (const key of ['all', `partition ${partition}`, `host ${String(host)}`]) count(key, step)
  }
  return {
    most,
    seen,
    release,
    handler: {
      retryDelaysMs: [],
      async handle(payload: Record<string, unknown>, _attempt: number, id: string) {
        const { partition, host } = payload as { partition: string; host?: string }
        seen.set(id, (seen.get(id) ?? 0) + 1)
        countAll(partition, host, 1)
        await (hangs(partition) ? released : takeMoment())
        countAll(partition, host, -1)
      },
    },
  }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`)

/** No timer: on a busy machine it may be a second late, which would make a queue count as hanging. */
const atOnce = async () => {}

describeDatabases('the queues of the outbox', (open) => {
  it('do not block other queues, even if a queue has thousands of hanging rows', async () => {
    const test = await open()
    const { handler, most, release } = createHandler((partition) => partition === 'hangs')
    const others = names('other', 20)
    await enqueue(test, { partition: 'hangs', count: 3000 })
    partsOf(test.registry).outbox.handle(topic, handler)
    await expect.poll(() => most.get('partition hangs')).toBe(8)
    await enqueue(test, ...others.map((partition) => ({ partition, count: 20 })))
    await expect.poll(() => countBy(test, 'done', others)).toBe(400)
    expect(await countBy(test, 'done', ['hangs'])).toBe(0)
    expect(most.get('partition hangs')).toBe(8)
    // New rows start at once: no poll is needed.
    await enqueue(test, { partition: 'late', count: 1 })
    await expect.poll(() => countBy(test, 'done', ['late'])).toBe(1)
    const stopped = partsOf(test.registry).outbox.stop()
    release()
    await stopped
  })

  it('leave capacity for other queues, even if very many queues hang', async () => {
    const test = await open()
    const hanging = names('hangs', 60)
    const { handler, most, release } = createHandler((partition) => partition.startsWith('hangs'), atOnce)
    partsOf(test.registry).outbox.handle(topic, handler)
    await enqueue(test, { partition: 'known', count: 40 })
    await expect.poll(() => countBy(test, 'done', ['known'])).toBe(40)
    await enqueue(test, ...hanging.map((partition) => ({ partition, count: 40 })))
    await expect.poll(() => most.get('all')).toBeGreaterThanOrEqual(192)
    await enqueue(test, { partition: 'known', count: 300 })
    await expect.poll(() => countBy(test, 'done', ['known'])).toBe(340)
    expect(await countBy(test, 'pending', hanging)).toBe(2400)
    expect(most.get('all')).toBeLessThanOrEqual(256)
    const stopped = partsOf(test.registry).outbox.stop()
    release()
    await stopped
  })

  it('of the same host share the limit of the host', async () => {
    const test = await open()
    const partitions = names('of-one', 30)
    const { handler, most, seen } = createHandler(() => false)
    partsOf(test.registry).outbox.handle(topic, handler)
    await enqueue(test, ...partitions.map((partition) => ({ partition, host: 'one.test', count: 30 })), {
      partition: 'elsewhere',
      host: 'two.test',
      count: 30,
    })
    await expect.poll(() => countBy(test, 'done', [...partitions, 'elsewhere'])).toBe(930)
    expect(most.get('host one.test')).toBeLessThanOrEqual(64)
    expect(
      [...seen.values()].every((times) => times === 1),
      'each row once',
    ).toBe(true)
  })

  it('complete each row once, within the limits, even if two nodes process them', async () => {
    const first = await open()
    const second = await open({ at: first.location, clock: first.clock })
    const handlers = [createHandler(() => false), createHandler(() => false)] as const
    const partitions = names('partition', 150)
    // From one row to many: queue after queue, and more than can be claimed at a time.
    await enqueue(
      first,
      ...partitions.map((partition, n) => ({
        partition,
        host: n % 3 ? `host-${n % 7}` : undefined,
        count: 1 + (n % 20),
      })),
    )
    await enqueue(second, { partition: 'partition-0', count: 1500 })
    partsOf(first.registry).outbox.handle(topic, handlers[0].handler)
    partsOf(second.registry).outbox.handle(topic, handlers[1].handler)
    const total = partitions.reduce((sum, _partition, n) => sum + 1 + (n % 20), 1500)
    await expect.poll(() => countBy(first, 'done', partitions)).toBe(total)
    const seen = handlers.flatMap((each) => [...each.seen.entries()])
    expect(new Set(seen.map(([id]) => id)).size).toBe(total)
    expect(seen.filter(([, times]) => times !== 1)).toEqual([])
    expect(seen).toHaveLength(total)
    for (const { most } of handlers) {
      expect(most.get('all')).toBeLessThanOrEqual(256)
      for (const partition of partitions) expect(most.get(`partition ${partition}`) ?? 0).toBeLessThanOrEqual(32)
    }
  })
})
