import { setTimeout } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { beforeAll, expect, it } from 'vitest'
import { AttemptError } from '../../packages/core/src/outbox/jobs.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { enqueue } from '../support/outbox-acts.ts'

const minuteMs = 60_000

const newest = async ({ registry }: TestRegistry, partition: string) =>
  (await partsOf(registry).outbox.list(partition, 1))[0]!
const stateOf = async (test: TestRegistry, partition: string) => (await newest(test, partition)).state

describeDatabases('the attempts of the outbox are recorded', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
  })

  it('each with its number, time, status, duration and error', async () => {
    let left = 2
    partsOf(test.registry).outbox.handle('recorded', {
      retryDelaysMs: [minuteMs, minuteMs],
      async handle() {
        await setTimeout(20)
        if (left-- > 0) throw new AttemptError('The receiver answered with 500.', { statusCode: 500 })
        return { statusCode: 204 }
      },
    })
    const begun = test.clock.now()
    await enqueue(test, { topic: 'recorded', payload: { n: 1 } })
    for (const count of [1, 2]) {
      await expect.poll(async () => (await newest(test, 'recorded')).attempts.length).toBe(count)
      test.clock.advance(minuteMs)
    }
    await expect.poll(() => stateOf(test, 'recorded')).toBe('done')
    const { attempts, payload } = await newest(test, 'recorded')
    const failed = { statusCode: 500, error: 'The receiver answered with 500.' }
    expect(payload).toEqual({ n: 1 })
    expect(attempts.map(({ number, at, statusCode, error }) => ({ number, at, statusCode, error }))).toEqual([
      { number: 1, at: begun, ...failed },
      { number: 2, at: begun + minuteMs, ...failed },
      { number: 3, at: begun + 2 * minuteMs, statusCode: 204, error: null },
    ])
    for (const { durationMs } of attempts) {
      expect(Number.isInteger(durationMs)).toBe(true)
      expect(durationMs).toBeGreaterThanOrEqual(19)
    }
    expect(await partsOf(test.registry).outbox.figures()).toMatchObject({ attempts: 3, failures: 2 })
  })

  it('for only the latest twenty attempts of a row, each with a shortened error', async () => {
    partsOf(test.registry).outbox.handle('endless', {
      retryDelaysMs: Array.from({ length: 24 }, () => minuteMs),
      handle: () => Promise.reject(new Error('x'.repeat(5000))),
    })
    await enqueue(test, { topic: 'endless', payload: {} })
    const numberOf = async () => (await newest(test, 'endless')).attempts.at(-1)?.number
    for (let number = 1; number <= 25; number++) {
      await expect.poll(numberOf).toBe(number)
      test.clock.advance(minuteMs)
    }
    const { state, attempts } = await newest(test, 'endless')
    expect({ state, numbers: attempts.map(({ number }) => number) }).toEqual({
      state: 'failed',
      numbers: Array.from({ length: 20 }, (_, n) => n + 6),
    })
    expect(attempts[0]!.error).toHaveLength(2000)
  })

  it('until a final failure or the failure of the last retry', async () => {
    partsOf(test.registry).outbox.handle('final', {
      retryDelaysMs: [minuteMs, minuteMs],
      handle: () => Promise.reject(new AttemptError('The receiver is gone.', { isFinal: true })),
    })
    partsOf(test.registry).outbox.handle('nothing', {
      retryDelaysMs: [],
      // oxlint-disable-next-line prefer-promise-reject-errors -- what a careless handler may do
      handle: () => Promise.reject(),
    })
    await enqueue(test, { topic: 'final', payload: {} }, { topic: 'nothing', payload: {} })
    await expect.poll(() => stateOf(test, 'final')).toBe('failed')
    expect((await newest(test, 'final')).attempts).toMatchObject([{ number: 1, error: 'The receiver is gone.' }])
    await expect.poll(() => stateOf(test, 'nothing')).toBe('failed')
  })
})
