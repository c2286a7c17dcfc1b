import { partsOf } from '@skillstead/core/internal'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordRuns } from '../../packages/core/src/webhooks/delivery-runs.ts'
import { describeApi, describeDatabases, startMs, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import {
  exhaust,
  makeSubscriber,
  minuteMs,
  openReceiver,
  star,
  toOutgoing,
  untilDeliveries,
  untilWebhook,
} from '../support/webhook-acts.ts'

const readRun = async ({ registry }: TestRegistry, id: string) => {
  const query = partsOf(registry)
    .database.read.selectFrom('webhooks')
    .select(['active', 'failed_run'])
    .where('id', '=', id)
  const { active, failed_run } = await query.executeTakeFirstOrThrow()
  return [active, failed_run]
}

describeApi('a webhook whose deliveries fail in a row', (open) => {
  let outside: Outside
  let test: TestRegistry
  beforeAll(async () => {
    outside = await openOutside(['hooks.example.com'])
    test = await open({ outgoing: toOutgoing(outside), webhooks: { offAfterFailures: 3 } })
  })
  afterAll(() => outside.close())

  /** Some failing deliveries, one after another. */
  async function fail(user: TestUser, id: string, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await star(test, user)
      await exhaust(test, user, id)
    }
  }

  it('is disabled after the number of failures that the operator allows, and gets no more events', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    const other = await user.api.createWebhook({ url: receiver.url, events: ['user.followed'] })
    await fail(user, id, 2)
    expect((await user.api.getWebhook({ id })).active).toBe(true)
    await fail(user, id, 1)
    const off = await untilWebhook(user, id, { active: false })
    expect(off.updatedAt).toBe(new Date(test.clock.now()).toISOString())
    expect(off.deliveries.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    const count = receiver.received.length
    await star(test, user)
    test.clock.advance(minuteMs)
    expect((await user.api.getWebhook({ id })).deliveries).toHaveLength(3)
    expect(receiver.received).toHaveLength(count)
    expect((await user.api.getWebhook({ id: other.id })).active).toBe(true)
  })

  it('is disabled with an audit log entry that omits the URL, and a change notification for caches', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    const heard: string[] = []
    partsOf(test.registry).changes.follow(
      (batch) => {
        heard.push(...batch.map(({ kind, subject }) => `${kind} ${subject}`))
      },
      () => {},
    )
    await fail(user, id, 3)
    await untilWebhook(user, id, { active: false })
    const { entries } = await test.admin.api.listAudit({ limit: 100 })
    const ofIt = entries.filter(({ subject }) => subject === id)
    expect(ofIt.map(({ action, actor }) => [action, actor])).toEqual([
      ['webhook.off', 'system'],
      ['webhook.create', user.username],
    ])
    expect(JSON.stringify(ofIt)).not.toContain('hooks.example.com')
    const me = await user.api.getMe()
    // A moment after it can be read, since this test does not await the write.
    await expect.poll(() => heard).toContain(`webhooks ${me.id}`)
  })

  it('has its failure count reset when its owner enables the webhook', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await fail(user, id, 3)
    await untilWebhook(user, id, { active: false })
    expect(await user.api.updateWebhook({ id, active: true })).toMatchObject({ active: true })
    expect(await readRun(test, id)).toEqual([1, 0])
    await fail(user, id, 2)
    expect((await user.api.getWebhook({ id })).active).toBe(true)
    receiver.status = 200
    await star(test, user)
    await untilDeliveries(user, id, ['delivered', ...Array.from({ length: 5 }, () => 'failed')])
  })

  it('has its failure count reset by a successful delivery, also by a successful retry', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await fail(user, id, 2)
    expect(await readRun(test, id)).toEqual([1, 2])
    const { id: deliveryId } = (await user.api.getWebhook({ id })).deliveries[0]!
    receiver.status = 200
    await user.api.retryDelivery({ id, deliveryId })
    await untilDeliveries(user, id, ['delivered', 'failed'])
    expect(await readRun(test, id)).toEqual([1, 0])
    receiver.status = 500
    await fail(user, id, 2)
    expect(await readRun(test, id)).toEqual([1, 2])
    expect((await user.api.getWebhook({ id })).active).toBe(true)
  })

  it('keeps its failure count when a ping fails or succeeds', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await fail(user, id, 2)
    for (let i = 0; i < 3; i++) await user.api.pingWebhook({ id })
    await untilDeliveries(
      user,
      id,
      Array.from({ length: 5 }, () => 'failed'),
    )
    expect(await readRun(test, id)).toEqual([1, 2])
    receiver.status = 200
    await user.api.pingWebhook({ id })
    await untilDeliveries(user, id, ['delivered', ...Array.from({ length: 5 }, () => 'failed')])
    expect(await readRun(test, id)).toEqual([1, 2])
  })

  it("keeps its failure count if deliveries fail because it is disabled or its owner's plan has no webhooks", async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    const { username } = user
    await star(test, user, 4)
    const attempted = async () =>
      (await user.api.getWebhook({ id })).deliveries.every((each) => each.attempts.length > 0)
    await expect.poll(attempted).toBe(true)
    await user.api.updateWebhook({ id, active: false })
    test.clock.advance(minuteMs)
    const failed = Array.from({ length: 4 }, () => 'failed')
    await untilDeliveries(user, id, failed)
    expect(await readRun(test, id)).toEqual([0, 0])
    await user.api.updateWebhook({ id, active: true })
    await star(test, user, 4)
    await expect.poll(attempted).toBe(true)
    await test.admin.api.updateUser({ username, plan: 'free' })
    test.clock.advance(minuteMs)
    const states = partsOf(test.registry).database.read.selectFrom('outbox').select('state').where('partition', '=', id)
    const isOver = async () => (await states.execute()).every(({ state }) => state === 'failed')
    await expect.poll(isOver).toBe(true)
    expect(await readRun(test, id)).toEqual([1, 0])
    await test.admin.api.updateUser({ username, plan: 'pro' })
    expect((await user.api.getWebhook({ id })).active).toBe(true)
  })
})
const noNames = () => Promise.reject(Object.assign(new Error('There is no such name.'), { code: 'ENOTFOUND' }))
const makeWebhook = async (test: TestRegistry) => {
  const user = await test.makeUser(undefined, { plan: 'pro' })
  const { id } = await user.api.createWebhook({ url: 'https://hooks.example.com/', events: ['user.followed'] })
  return { user, id }
}
const toJob = (partition: string, isDone: boolean) => ({
  id: 'x',
  partition,
  payload: {},
  attempts: 5,
  startedAt: startMs,
  state: isDone ? ('done' as const) : ('failed' as const),
})
const record = ({ registry }: TestRegistry, jobs: ReturnType<typeof toJob>[]) =>
  partsOf(registry).database.writer.write((trx) => recordRuns(partsOf(registry), trx, jobs))
const outgoing = { resolver: { lookup: noNames, txt: noNames } }

describeDatabases('the number of consecutive failures of a webhook', (open, dialect) => {
  const openWith = (offAfterFailures?: number) => open({ works: false, outgoing, webhooks: { offAfterFailures } })

  it('counts all failures since the last success, however the attempts are divided into batches', async () => {
    const test = await openWith(0)
    const { id } = await makeWebhook(test)
    const { id: other } = await makeWebhook(test)
    let run = 0
    const batches = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        for (const batch of all) {
          await record(test, [toJob('no-webhook', false), ...batch.map((isDone) => toJob(id, isDone))])
          for (const isDone of batch) run = isDone ? 0 : run + 1
        }
        expect(await readRun(test, id)).toEqual([1, run])
        expect(await readRun(test, other)).toEqual([1, 0])
      }),
      { numRuns: 40 },
    )
  })

  describe('disables the webhook', () => {
    it.each([
      ['at twenty unless it is said', undefined, 19],
      ['at one where the operator says so', 1, 0],
    ] as const)('%s', async (_, offAfterFailures, allowed) => {
      const test = await openWith(offAfterFailures)
      const { user, id } = await makeWebhook(test)
      for (let i = 0; i < allowed; i++) await record(test, [toJob(id, false)])
      expect((await user.api.getWebhook({ id })).active).toBe(true)
      await record(test, [toJob(id, false)])
      expect((await user.api.getWebhook({ id })).active).toBe(false)
      const subscriptions = partsOf(test.registry).database.read.selectFrom('webhook_subscriptions').selectAll()
      expect(await subscriptions.execute()).toEqual([])
    })

    it('only once, whatever fails later', async () => {
      const test = await openWith(2)
      const { id } = await makeWebhook(test)
      const three = Array.from({ length: 3 }, () => toJob(id, false))
      await record(test, three)
      await record(test, three)
      const { entries } = await test.admin.api.listAudit({ limit: 100 })
      const offs = entries.filter(({ action }) => action === 'webhook.off')
      expect(offs.map(({ subject, data }) => [subject, data])).toEqual([[id, { failures: 3 }]])
    })

    it('never if the limit is 0', async () => {
      const test = await openWith(0)
      const { user, id } = await makeWebhook(test)
      await record(
        test,
        Array.from({ length: 100 }, () => toJob(id, false)),
      )
      expect((await user.api.getWebhook({ id })).active).toBe(true)
    })
  })

  it('costs no write while deliveries succeed', async () => {
    const test = await openWith()
    const { id } = await makeWebhook(test)
    const { registry } = test
    const written = sql`${sql.raw(dialect === 'SQLite' ? 'total_changes()' : 'xmin::text')}`
    const [before, after] = await partsOf(registry).database.writer.write(async (trx) => {
      const read = () =>
        trx
          .selectFrom('webhooks')
          .select(['id', written.as('written')])
          .execute()
      const first = await read()
      await recordRuns(partsOf(registry), trx, [toJob(id, true), toJob(id, true)])
      return [first, await read()]
    })
    expect(after).toEqual(before)
    expect(before).toHaveLength(1)
  })
})
