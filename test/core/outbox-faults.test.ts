import { setTimeout } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { RegistryError } from '@skillstead/protocol'
import { describeDatabases } from '../support/harness.ts'
import { leaseMs, letLook, makeJobs, outboxOf } from '../support/outbox-acts.ts'

const topic = 'faulty'

const { enqueue, rowsOf, countDone } = outboxOf(topic)

describeDatabases('rows of the outbox', (open, dialect) => {
  it('that cannot be parsed fail at once, without affecting other rows', async () => {
    const test = await open()
    const begun: unknown[] = []
    const ended: string[] = []
    await enqueue(test, ...makeJobs(3))
    const [first, second] = await rowsOf(test)
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('outbox').set({ payload: '{' }).where('id', '=', first!.id).execute()
      await trx.updateTable('outbox').set({ attempt_log: '?' }).where('id', '=', second!.id).execute()
    })
    partsOf(test.registry).outbox.handle(topic, {
      retryDelaysMs: [1000],
      handle: async ({ n }) => void begun.push(n),
      afterwards: async (_trx, jobs) => void ended.push(...jobs.map(({ id }) => id)),
    })
    await expect.poll(async () => (await rowsOf(test)).map(({ state }) => state)).toEqual(['failed', 'done', 'done'])
    expect(begun).toHaveLength(2)
    expect(ended).toHaveLength(3)
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('outbox').set({ payload: '{}' }).where('id', '=', first!.id).execute()
    })
    expect((await partsOf(test.registry).outbox.list(topic, 1))[0]!.attempts).toMatchObject([
      { number: 1, error: null },
    ])
  })

  it.each([
    ['an error', () => new Error('Not this one.')],
    ['one of the interface', () => new RegistryError('not_found', 'There is no such thing.')],
  ])('are repeated if `afterwards` failed with %s, while the others complete', async (_name, make) => {
    const errors: unknown[] = []
    const test = await open({ onError: (error) => void errors.push(error) })
    const fault = make()
    let isBroken = true
    partsOf(test.registry).outbox.handle(topic, {
      retryDelaysMs: [],
      async handle() {},
      async afterwards(_trx, jobs) {
        if (isBroken && jobs.some(({ payload }) => payload.n === 2)) throw fault
      },
    })
    await enqueue(test, ...makeJobs(5))
    await expect.poll(() => countDone(test)).toBe(4)
    // After the error the worker drops the row; until then it would renew the lease.
    await expect.poll(() => errors).toEqual([fault])
    await letLook()
    expect(errors).toEqual([fault])
    const left = (await rowsOf(test)).find(({ state }) => state === 'pending')
    expect(left).toMatchObject({ payload: '{"n":2}', attempts: 0 })
    isBroken = false
    test.clock.advance(leaseMs)
    await expect.poll(() => countDone(test)).toBe(5)
  })

  it.skipIf(dialect !== 'SQLite')(
    'that complete while the disk is full are stored as complete later, and no row runs twice',
    async () => {
      const errors: unknown[] = []
      const test = await open({ onError: (error) => void errors.push(error) })
      const { promise: full, resolve: goOn } = Promise.withResolvers<void>()
      let begun = 0
      partsOf(test.registry).outbox.handle(topic, {
        retryDelaysMs: [],
        async handle() {
          begun += 1
          await full
          throw new Error('Much to say. '.repeat(150))
        },
      })
      await enqueue(test, ...makeJobs(8))
      await expect.poll(() => begun).toBe(8)
      const limitPages = (max: number) =>
        partsOf(test.registry).database.writer.write((trx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(trx))
      await limitPages(1)
      await expect(enqueue(test, { payload: { noise: 'x'.repeat(100_000) } })).rejects.toMatchObject({
        code: 'SQLITE_FULL',
      })
      goOn()
      await setTimeout(200)
      const states = async () => (await rowsOf(test)).map(({ state }) => state)
      expect(new Set(await states())).toEqual(new Set(['pending']))
      await limitPages(1_000_000)
      await expect.poll(async () => new Set(await states())).toEqual(new Set(['failed']))
      expect({ begun, errors }).toEqual({ begun: 8, errors: [] })
    },
  )

  it('whose handler throws a value without a message fail and are retried like other rows', async () => {
    const test = await open()
    partsOf(test.registry).outbox.handle(topic, {
      retryDelaysMs: [],
      // oxlint-disable-next-line prefer-promise-reject-errors -- what a careless handler may do
      handle: () => Promise.reject(Object.create(null)),
    })
    await enqueue(test, ...makeJobs(1))
    await expect.poll(async () => (await rowsOf(test)).map(({ state }) => state)).toEqual(['failed'])
    const [{ attempts } = { attempts: [] }] = await partsOf(test.registry).outbox.list(topic, 1)
    expect(attempts).toMatchObject([{ number: 1, error: expect.stringMatching(/./) }])
  })
})
