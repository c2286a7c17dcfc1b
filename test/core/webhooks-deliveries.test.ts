import { localApi } from '@skillstead/core'
import { partsOf, withParts } from '@skillstead/core/internal'
import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, refusalOf } from '../support/answers.ts'
import { describeApi, describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import * as acts from '../support/webhook-acts.ts'
import {
  dayMs,
  exhaust,
  makeSubscriber,
  minuteMs,
  openReceiver,
  sign,
  star,
  toOutgoing,
  untilDeliveries,
  untilWebhook,
} from '../support/webhook-acts.ts'

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
const delivery = { id: expect.any(String), eventId: expect.any(String), event: 'skill.starred' }
const readOf = async ({ api }: TestUser, id: string) => (await api.getWebhook({ id })).deliveries

describeApi('the deliveries of a webhook', (open) => {
  let outside: Outside
  let test: TestRegistry
  beforeAll(async () => {
    outside = await openOutside(['example.com', 'hooks.example.com'])
    test = await open({ outgoing: toOutgoing(outside), webhooks: { offAfterFailures: 0 } })
  })
  afterAll(() => outside.close())

  const atOf = (ms = 0) => new Date(test.clock.now() + ms).toISOString()

  it('are shown with every attempt and the next due time', async () => {
    const receiver = openReceiver(outside, 503)
    const { user, id } = await makeSubscriber(test, receiver)
    const createdAt = atOf()
    await star(test, user)
    const first = { number: 1, at: createdAt, statusCode: 503, durationMs: expect.any(Number) }
    const failed = { ...first, error: 'The receiver answered with 503; a response of 2xx is needed.' }
    const lastDelivery = { status: 'pending', at: createdAt }
    const waiting = { ...delivery, status: 'pending', attempts: [failed], nextAttemptAt: atOf(minuteMs), createdAt }
    const shown = await untilWebhook(user, id, { lastDelivery, deliveries: [{ attempts: [{ number: 1 }] }] })
    expect(shown.deliveries).toEqual([waiting])
    receiver.status = 204
    test.clock.advance(minuteMs)
    const [done] = await untilDeliveries(user, id, ['delivered'])
    const second = { number: 2, at: atOf(), statusCode: 204, durationMs: expect.any(Number), error: null }
    expect(done).toEqual({ ...waiting, status: 'delivered', attempts: [failed, second], nextAttemptAt: null })
    expect(done!.eventId).toBe(shown.deliveries[0]!.eventId)
    expect((await user.api.getWebhook({ id })).lastDelivery).toEqual({ status: 'delivered', at: atOf() })
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([done!.eventId, done!.eventId])
    expect(receiver.received.map(({ headers }) => headers['x-service-delivery'])).toEqual([done!.id, done!.id])
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ id: done!.eventId, event: 'skill.starred' })
  })

  it('fail after five scheduled attempts, each with its reason', async () => {
    const receiver = openReceiver(outside, 301)
    const { user, id } = await makeSubscriber(test, receiver)
    const startedMs = test.clock.now()
    await star(test, user)
    await exhaust(test, user, id)
    const [failed] = await readOf(user, id)
    expect(failed).toMatchObject({ status: 'failed', nextAttemptAt: null })
    const elapsedMs = failed!.attempts.map(({ at }) => Date.parse(at) - startedMs)
    expect(elapsedMs).toEqual([0, 1, 6, 36, 156].map((minutes) => minutes * minuteMs))
    expect(failed!.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
    const errors = new Set(failed!.attempts.map(({ error }) => error))
    const redirected =
      'The receiver answered with a redirect (301), which is not followed. Set the webhook to the final URL.'
    expect([...errors]).toEqual([redirected])
    test.clock.advance(dayMs)
    await star(test, user)
    await expect.poll(async () => (await readOf(user, id))[0]!.attempts.length).toBe(1)
    expect(receiver.received).toHaveLength(6)
  })

  it('do not reveal the private address to which the host of a webhook resolves', async () => {
    const { user, id } = await makeSubscriber(test, openReceiver(outside))
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('webhooks').set({ url: 'https://inner.example.com/' }).where('id', '=', id).execute()
    })
    await star(test, user)
    const shown = await untilWebhook(user, id, { deliveries: [{ attempts: [{ number: 1, statusCode: null }] }] })
    expect(shown.deliveries[0]!.attempts[0]!.error).toContain('public')
    expect(JSON.stringify(shown)).not.toContain('10.1.2.3')
  })

  it('are listed newest first, up to a hundred, and the list of webhooks shows the newest delivery', async () => {
    const receiver = openReceiver(outside)
    const { user, id } = await makeSubscriber(test, receiver)
    const quiet = await user.api.createWebhook({ url: receiver.url, events: ['user.followed'] })
    await star(test, user, 102)
    await expect.poll(() => receiver.received.length).toBe(102)
    const shown = await readOf(user, id)
    expect(shown).toHaveLength(100)
    const ids = shown.map((each) => each.id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    test.clock.advance(1000)
    receiver.status = 500
    await star(test, user)
    await expect.poll(() => receiver.received.length).toBe(103)
    const { webhooks } = await user.api.listWebhooks({})
    expect(webhooks.map((each) => [each.id, each.lastDelivery])).toEqual([
      [quiet.id, null],
      [id, { status: 'pending', at: atOf() }],
    ])
    expect(await readOf(user, quiet.id)).toEqual([])
  })

  describe('can be retried', () => {
    it('at once if they failed: the response is 202, and the event stays the same', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      await exhaust(test, user, id)
      const [failed] = await readOf(user, id)
      test.clock.advance(dayMs)
      receiver.status = 200
      const again = await user.api.retryDelivery({ id, deliveryId: failed!.id })
      expect(again).toEqual({ ...failed, status: 'pending', nextAttemptAt: atOf() })
      const [done] = await untilDeliveries(user, id, ['delivered'])
      expect(done!.attempts.map(({ number, statusCode }) => [number, statusCode])).toEqual([
        ...[1, 2, 3, 4, 5].map((number) => [number, 500]),
        [6, 200],
      ])
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([done!.eventId]))
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    })

    it('any number of times, and each retry makes one attempt', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      await exhaust(test, user, id)
      const { id: deliveryId } = (await readOf(user, id))[0]!
      for (const attempts of [6, 7]) {
        expect(await test.statusOf(user, 'retryDelivery', { id, deliveryId })).toBe(202)
        await expect.poll(async () => (await readOf(user, id))[0]!.attempts.length).toBe(attempts)
        await untilDeliveries(user, id, ['failed'])
      }
      expect(receiver.received).toHaveLength(7)
    })

    it('before they are due, and then follow the retry schedule', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
      const [waiting] = await readOf(user, id)
      test.clock.advance(1000)
      const again = await user.api.retryDelivery({ id, deliveryId: waiting!.id })
      expect(again).toEqual({ ...waiting, nextAttemptAt: atOf() })
      await untilWebhook(user, id, { deliveries: [{ attempts: [{}, {}], nextAttemptAt: atOf(5 * minuteMs) }] })
      expect(receiver.received).toHaveLength(2)
    })

    it('but not when they were delivered', async () => {
      const receiver = openReceiver(outside)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      const [done] = await untilDeliveries(user, id, ['delivered'])
      const refusal = await refusalOf(user.api.retryDelivery({ id, deliveryId: done!.id }))
      expect(refusal.code).toBe('invalid_transition')
      expect(await readOf(user, id)).toEqual([done])
      expect(receiver.received).toHaveLength(1)
    })

    it('only under their own webhook and by its owner, and only if they exist', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      const other = await makeSubscriber(test, openReceiver(outside))
      const mine = await user.api.createWebhook({ url: receiver.url, events: ['user.followed'] })
      await star(test, user)
      await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
      const [waiting] = await readOf(user, id)
      const deliveryId = waiting!.id
      for (const [api, input] of [
        [user.api, { id: mine.id, deliveryId }],
        [user.api, { id, deliveryId: unknownId }],
        [user.api, { id, deliveryId: 'x' }],
        [other.user.api, { id: other.id, deliveryId }],
        [other.user.api, { id, deliveryId }],
        [test.admin.api, { id, deliveryId }],
      ] as const) {
        expect(await codeOf(api.retryDelivery(input))).toBe('not_found')
      }
      // Other outbox work is not a delivery.
      const job = await partsOf(test.registry)
        .database.read.selectFrom('outbox')
        .select('id')
        .where('partition', '!=', id)
        .execute()
      for (const each of job.slice(0, 5)) {
        expect(await codeOf(user.api.retryDelivery({ id, deliveryId: each.id }))).toBe('not_found')
      }
      expect(await readOf(user, id)).toEqual([waiting])
    })

    it('but not while the webhook is disabled, and the error states this reason', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      await exhaust(test, user, id)
      const before = await readOf(user, id)
      await user.api.updateWebhook({ id, active: false })
      const refusal = await refusalOf(user.api.retryDelivery({ id, deliveryId: before[0]!.id }))
      expect([refusal.code, refusal.message]).toEqual([
        'conflict',
        'The webhook is disabled. Enable it, then retry the delivery.',
      ])
      expect(await readOf(user, id)).toEqual(before)
      await user.api.updateWebhook({ id, active: true })
      receiver.status = 200
      expect(await test.statusOf(user, 'retryDelivery', { id, deliveryId: before[0]!.id })).toBe(202)
      await untilDeliveries(user, id, ['delivered'])
    })
  })

  describe('that are pings', () => {
    it('are accepted with 202, are signed, and name their webhook', async () => {
      const receiver = openReceiver(outside)
      const { user, id, secret } = await makeSubscriber(test, receiver)
      const ping = await user.api.pingWebhook({ id })
      expect(ping).toEqual({
        ...delivery,
        event: 'ping',
        status: 'pending',
        attempts: [],
        nextAttemptAt: atOf(),
        createdAt: atOf(),
      })
      const [done] = await untilDeliveries(user, id, ['delivered'])
      expect(done).toMatchObject({ id: ping.id, eventId: ping.eventId, event: 'ping', attempts: [{ statusCode: 200 }] })
      const [{ headers, body }] = receiver.received as [acts.Receiver['received'][number]]
      expect(JSON.parse(body)).toEqual({
        id: ping.eventId,
        event: 'ping',
        timestamp: atOf(),
        data: { webhook: { id } },
      })
      expect(headers).toMatchObject({
        'x-service-event': 'ping',
        'x-service-delivery': ping.id,
        'x-service-signature': sign(secret, body),
        'webhook-id': ping.eventId,
      })
      expect(await test.statusOf(user, 'pingWebhook', { id })).toBe(202)
    })

    it('are tried once, and can be retried', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      const { id: deliveryId } = await user.api.pingWebhook({ id })
      const [failed] = await untilDeliveries(user, id, ['failed'])
      expect(failed!.attempts).toHaveLength(1)
      receiver.status = 200
      await user.api.retryDelivery({ id, deliveryId })
      await untilDeliveries(user, id, ['delivered'])
      expect(receiver.received).toHaveLength(2)
    })

    it('are also sent while the webhook is disabled', async () => {
      const receiver = openReceiver(outside, 500)
      const { user, id } = await makeSubscriber(test, receiver)
      await star(test, user)
      await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
      await user.api.updateWebhook({ id, active: false })
      receiver.status = 200
      await star(test, user)
      await user.api.pingWebhook({ id })
      await untilDeliveries(user, id, ['delivered', 'pending'])
      test.clock.advance(minuteMs)
      const [, waited] = await untilDeliveries(user, id, ['delivered', 'failed'])
      expect(waited!.attempts.map(({ error }) => error)).toEqual([
        'The receiver answered with 500; a response of 2xx is needed.',
        'The webhook is disabled.',
      ])
      expect(receiver.received.map(({ headers }) => headers['x-service-event'])).toEqual(['skill.starred', 'ping'])
    })
  })

  it('are signed with the new secret and then the old secret for 24 hours after a change', async () => {
    const receiver = openReceiver(outside)
    const { user, id } = await makeSubscriber(test, { url: receiver.url, secret: 'the first' })
    const next = async () => {
      const { id: pingId } = await user.api.pingWebhook({ id })
      const isIt = ({ headers }: (typeof receiver.received)[number]) => headers['x-service-delivery'] === pingId
      await expect.poll(() => receiver.received.some(isIt)).toBe(true)
      const { headers, body } = receiver.received.find(isIt)!
      const signer = ['the first', 'the second'].find((each) => sign(each, body) === headers['x-service-signature'])
      return [signer, String(headers['webhook-signature']).split(' ').length]
    }
    expect(await next()).toEqual(['the first', 1])
    const answer = await user.api.updateWebhook({ id, secret: 'the second' })
    expect(answer).not.toHaveProperty('secret')
    expect(await next()).toEqual(['the second', 2])
    await user.api.updateWebhook({ id, secret: 'the second' })
    test.clock.advance(dayMs - 1)
    expect(await next()).toEqual(['the second', 2])
    test.clock.advance(1)
    expect(await next()).toEqual(['the second', 1])
    const shown = JSON.stringify([await user.api.getWebhook({ id }), await user.api.listWebhooks({}), answer])
    for (const secret of ['the first', 'the second']) expect(shown).not.toContain(secret)
  })

  it('go to the new URL if they are pending when the URL is changed', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await star(test, user)
    await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
    const moved = openReceiver(outside)
    await user.api.updateWebhook({ id, url: moved.url.replace('hooks.', '') })
    const page = moved.url.replace('https://hooks.', '')
    outside.pages.set(page, outside.pages.get(moved.url.replace('https://', ''))!)
    const row = partsOf(test.registry).database.read.selectFrom('outbox').select('host').where('partition', '=', id)
    expect(await row.execute()).toEqual([{ host: 'example.com' }])
    test.clock.advance(minuteMs)
    await untilDeliveries(user, id, ['delivered'])
    expect([receiver.received.length, moved.received.length]).toEqual([1, 1])
  })

  it('are not sent if they are still pending when the webhook is deleted', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await star(test, user)
    await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
    await user.api.deleteWebhook({ id })
    await star(test, user)
    test.clock.advance(minuteMs)
    const read = () =>
      partsOf(test.registry).database.read.selectFrom('outbox').selectAll().where('partition', '=', id).execute()
    await expect.poll(async () => (await read()).map(({ state }) => state)).toEqual(['failed'])
    expect((await read())[0]!.attempt_log).toContain('The webhook was deleted.')
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['are not made for a user who is disabled', { disabled: true }, { disabled: false }, 'unauthorized'],
    ['are not made for a user below Pro', { plan: 'free' }, { plan: 'pro' }, 'plan_required'],
  ] as const)('%s, but the webhooks of the user stay', async (_, fall, rise, code) => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    const { username } = user
    await star(test, user)
    await untilWebhook(user, id, { deliveries: [{ attempts: [{}] }] })
    await test.admin.api.updateUser({ username, ...fall })
    expect(await codeOf(user.api.getWebhook({ id }))).toBe(code)
    receiver.status = 200
    await star(test, user)
    test.clock.advance(minuteMs)
    const rows = () =>
      partsOf(test.registry).database.read.selectFrom('outbox').select('state').where('partition', '=', id).execute()
    await expect.poll(rows).toEqual([{ state: 'failed' }])
    expect(receiver.received).toHaveLength(1)
    await test.admin.api.updateUser({ username, ...rise })
    expect(await user.api.getWebhook({ id })).toMatchObject({ active: true, deliveries: [{ status: 'failed' }] })
    await star(test, user)
    await untilDeliveries(user, id, ['delivered', 'failed'])
    expect(receiver.received).toHaveLength(2)
  })
})

describeDatabases('the list of webhooks', (open) => {
  it('takes the same number of queries for twenty webhooks as for none', async () => {
    const test = await open({ works: false })
    const user = await test.makeUser(undefined, { plan: 'pro' })
    let queries = 0
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries += 1
        return result
      },
    }
    const { database } = partsOf(test.registry)
    const counted = withParts(test.registry, { database: { ...database, read: database.read.withPlugin(counter) } })
    const api = localApi(counted, await test.registry.getCaller(user.username))
    const countOf = async (total: number) => {
      queries = 0
      const { webhooks } = await api.listWebhooks({ limit: 100 })
      expect(webhooks.map(({ lastDelivery }) => lastDelivery?.status)).toEqual(
        Array.from({ length: total }, () => 'pending'),
      )
      return queries
    }
    const before = await countOf(0)
    for (let i = 0; i < 20; i++) {
      const { id } = await user.api.createWebhook({ url: 'https://[2606:2800:220::1]/', events: ['user.followed'] })
      await user.api.pingWebhook({ id })
    }
    expect(await countOf(20)).toBe(before)
  })
})
