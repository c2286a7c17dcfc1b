import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Attempt } from '../../packages/core/src/outbox/jobs.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { enqueue, letLook } from '../support/outbox-acts.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const farAwayMs = 60 * dayMs

const retry = ({ registry }: TestRegistry, partition: string, id: string) =>
  partsOf(registry).database.writer.write((trx) => partsOf(registry).outbox.retry(trx, partition, id))
const newest = async ({ registry }: TestRegistry, partition: string) =>
  (await partsOf(registry).outbox.list(partition, 1))[0]!
const stateOf = async (test: TestRegistry, partition: string) => (await newest(test, partition)).state
const rowOf = ({ registry }: TestRegistry, id: string) =>
  partsOf(registry).database.read.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

describeDatabases('the rows of the outbox', (open) => {
  describe('can be retried', () => {
    let test: TestRegistry
    let outcome: 'fails' | 'hangs' | 'ends' = 'fails'
    let goOn: (() => void) | undefined
    const begun: Attempt['number'][] = []
    beforeAll(async () => {
      test = await open()
      partsOf(test.registry).outbox.handle('again', {
        retryDelaysMs: [minuteMs],
        async handle(_payload, attempt) {
          begun.push(attempt)
          if (outcome === 'fails') throw new Error('No.')
          if (outcome === 'hangs') await new Promise<void>((resolve) => (goOn = resolve))
        },
      })
      await enqueue(test, { topic: 'again', partition: 'mine', payload: {} })
    })

    it('at once while pending', async () => {
      await expect.poll(async () => (await newest(test, 'mine')).attempts.length).toBe(1)
      const { id, dueAt } = await newest(test, 'mine')
      expect(dueAt).toBe(test.clock.now() + minuteMs)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending', dueAt: test.clock.now() })
      await expect.poll(() => stateOf(test, 'mine')).toBe('failed')
      expect(begun).toEqual([1, 2])
      test.clock.advance(2 * minuteMs)
      await letLook()
      expect(begun, 'the attempt that was planned is not made as well').toEqual([1, 2])
    })

    it('but not by a user who does not own them', async () => {
      const { id } = await newest(test, 'mine')
      expect(await retry(test, 'of-another-user', id)).toBeUndefined()
      expect(await retry(test, 'mine', 'no-such-row')).toBeUndefined()
      await letLook()
      expect(begun).toEqual([1, 2])
    })

    it('once more after they failed, and a second retry has no effect while the first retry runs', async () => {
      outcome = 'hangs'
      const { id } = await newest(test, 'mine')
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending' })
      await expect.poll(() => begun).toEqual([1, 2, 3])
      const running = await rowOf(test, id)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'pending' })
      expect(await rowOf(test, id)).toEqual(running)
      outcome = 'ends'
      goOn!()
      await expect.poll(() => stateOf(test, 'mine')).toBe('done')
      expect(begun).toEqual([1, 2, 3])
      expect((await newest(test, 'mine')).attempts.map(({ number }) => number)).toEqual([1, 2, 3])
    })

    it('but not after they are complete', async () => {
      const { id } = await newest(test, 'mine')
      const done = await rowOf(test, id)
      expect(await retry(test, 'mine', id)).toMatchObject({ state: 'done' })
      await letLook()
      expect(await rowOf(test, id)).toEqual(done)
      expect(begun).toEqual([1, 2, 3])
    })
  })

  it('are redirected to another host while pending, but not after they are complete', async () => {
    const test = await open()
    partsOf(test.registry).outbox.handle('sent', { retryDelaysMs: [], async handle() {} })
    const job = { topic: 'sent', partition: 'moves', host: 'old.test', payload: {} }
    await enqueue(test, job)
    await expect.poll(() => stateOf(test, 'moves')).toBe('done')
    const later = { dueAt: test.clock.now() + minuteMs }
    await enqueue(test, { ...job, ...later }, { ...job, ...later, partition: 'stays' })
    await partsOf(test.registry).outbox.redirect('moves', 'new.test')
    const rows = await partsOf(test.registry)
      .database.read.selectFrom('outbox')
      .select(['partition', 'state', 'host'])
      .where('topic', '=', 'sent')
      .orderBy('partition')
      .orderBy('state')
      .execute()
    expect(rows).toEqual([
      { partition: 'moves', state: 'done', host: 'old.test' },
      { partition: 'moves', state: 'pending', host: 'new.test' },
      { partition: 'stays', state: 'pending', host: 'old.test' },
    ])
  })

  it('are redirected in batches if many are pending, and unchanged if they already have the new host', async () => {
    const test = await open({ works: false })
    const { outbox, database } = partsOf(test.registry)
    const job = { topic: 'sent', partition: 'moves', host: 'old.test', payload: {} }
    await enqueue(test, ...Array.from({ length: 2300 }, () => job))
    const hostsOf = async () => {
      const rows = await database.read.selectFrom('outbox').select('host').where('partition', '=', 'moves').execute()
      return [...Map.groupBy(rows, ({ host }) => host)].map(([host, { length }]) => [host, length])
    }
    let commits = 0
    database.writer.onCommit(() => void (commits += 1))
    await outbox.redirect('moves', 'new.test')
    expect(await hostsOf()).toEqual([['new.test', 2300]])
    expect(commits).toBe(3)
    await outbox.redirect('moves', 'new.test')
    expect(commits).toBe(3)
  })

  it('are deleted in batches when their retention period after completion is over, never while pending', async () => {
    const test = await open()
    const { outbox, database } = partsOf(test.registry)
    outbox.handle('ended', {
      retryDelaysMs: [],
      async handle({ fails }) {
        if (fails) throw new Error('No.')
      },
    })
    await enqueue(test, { topic: 'unknown', partition: 'waits', payload: {} })
    const old = Array.from({ length: 2300 }, (_, n) => ({
      topic: 'ended',
      partition: `partition-${n % 40}`,
      payload: {},
    }))
    await enqueue(test, ...old, { topic: 'ended', partition: 'failed', payload: { fails: true } })
    const count = async (state: 'done' | 'failed' | 'pending') =>
      (await database.read.selectFrom('outbox').select('id').where('state', '=', state).execute()).length
    await expect.poll(() => count('done')).toBe(2300)
    const endedAt = test.clock.now()
    await outbox.sweep({ done: endedAt, failed: endedAt })
    expect([await count('done'), await count('failed')], 'not yet').toEqual([2300, 1])
    let commits = 0
    database.writer.onCommit(() => void (commits += 1))
    await outbox.sweep({ done: endedAt + 1, failed: endedAt })
    expect([await count('done'), await count('failed')]).toEqual([0, 1])
    expect(commits).toBeGreaterThanOrEqual(3)
    await outbox.sweep({ done: endedAt + 1, failed: endedAt + 1 })
    expect([await count('failed'), await stateOf(test, 'waits')]).toEqual([0, 'pending'])
  })

  it('are retained for a period from completion, even if they were pending for longer than the period', async () => {
    const test = await open({ works: false })
    await enqueue(test, { topic: 'waited', payload: {} })
    test.clock.advance(farAwayMs)
    partsOf(test.registry).outbox.handle('waited', { retryDelaysMs: [], async handle() {} })
    partsOf(test.registry).outbox.start()
    await expect.poll(() => stateOf(test, 'waited')).toBe('done')
    const weekAgo = test.clock.now() - 7 * dayMs
    await partsOf(test.registry).outbox.sweep({ done: weekAgo, failed: weekAgo })
    expect(await stateOf(test, 'waited')).toBe('done')
  })

  it('are shown to operators as numbers of pending and failed rows and the age of the oldest', async () => {
    const test = await open({ works: false })
    const { outbox } = partsOf(test.registry)
    expect(await outbox.figures()).toEqual({ pending: 0, failed: 0, oldestDueAt: null, attempts: 0, failures: 0 })
    const now = test.clock.now()
    await enqueue(test, { topic: 'a', payload: {}, dueAt: now + minuteMs }, { topic: 'a', payload: {}, dueAt: now - 5 })
    expect(await outbox.figures()).toEqual({ pending: 2, failed: 0, oldestDueAt: now - 5, attempts: 0, failures: 0 })
    outbox.handle('a', { retryDelaysMs: [], handle: () => Promise.reject(new Error('No.')) })
    outbox.start()
    await expect.poll(async () => (await outbox.figures()).failed).toBe(1)
    expect(await outbox.figures()).toEqual({
      pending: 1,
      failed: 1,
      oldestDueAt: now + minuteMs,
      attempts: 1,
      failures: 1,
    })
  })

  it('have the correct age in metrics, also while they run or hang', async () => {
    const test = await open()
    const { outbox } = partsOf(test.registry)
    const dueAt = test.clock.now()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    let begun = 0
    outbox.handle('runs', {
      retryDelaysMs: [],
      async handle() {
        begun += 1
        await ended
      },
    })
    await enqueue(test, { topic: 'runs', payload: {} })
    await expect.poll(() => begun).toBe(1)
    test.clock.advance(10 * minuteMs)
    expect(await outbox.figures()).toMatchObject({ oldestDueAt: dueAt })
    end()
    await expect.poll(() => stateOf(test, 'runs')).toBe('done')
  })
})
