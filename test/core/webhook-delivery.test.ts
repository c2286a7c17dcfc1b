import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Clock } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { Delivery } from '@skillstead/protocol'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { createClock, describeDatabases, type TestClock, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import { dayMs, delaysMs, hourMs, minuteMs, star, toOutgoing, untilDeliveries } from '../support/webhook-acts.ts'

/** A received delivery. */
interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The time of the registry's clock. */
  readonly at: number
}

type Hook = Awaited<ReturnType<typeof makeHook>>

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
let owners = 0

/** A webhook of a new owner who has a skill to star. */
async function makeHook(test: TestRegistry, input: { url: string; secret?: string }) {
  const user = await test.makeUser(`owner-${++owners}`, { plan: 'pro' })
  await user.api.publishSkill({ skillMd: skillMd('starred') })
  const { id, secret } = await user.api.createWebhook({ events: ['skill.starred'], ...input })
  return { user, id, secret: input.secret ?? secret! }
}
const newestOf = async (user: TestUser, id: string) => (await user.api.getWebhook({ id })).deliveries[0]!
const headersOf = ({ headers }: Received) => headers as Record<string, string>
const hmac = (key: string | Buffer, text: string | Buffer) => createHmac('sha256', key).update(text)
const standard = (key: string | Buffer, { headers, body }: Received) =>
  `v1,${hmac(key, `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`

/** Waits until the newest delivery has had a number of attempts. */
async function untilTried({ user, id }: Hook, attempts: number): Promise<Delivery> {
  const count = async () => (await newestOf(user, id))?.attempts.length
  await expect.poll(count).toBe(attempts)
  return newestOf(user, id)
}

describeDatabases('a delivery', (open) => {
  let outside: Outside
  let test: TestRegistry
  let receivers = 0
  beforeAll(async () => {
    outside = await openOutside(['example.com'])
    test = await open({ outgoing: toOutgoing(outside), webhooks: { offAfterFailures: 0 } })
  })
  afterAll(() => outside.close())

  /** Receives deliveries, and responds with the given statuses in turn; the last one repeats. */
  function receive({ statuses = [200], now = test.clock.now }: { statuses?: number[]; now?: () => number } = {}) {
    const page = `example.com/hook-${++receivers}`
    const received: Received[] = []
    outside.pages.set(page, async (request, response) => {
      received.push({ headers: request.headers, body: await buffer(request), at: now() })
      response.writeHead(statuses[received.length - 1] ?? statuses.at(-1)!).end()
    })
    return { url: `https://${page}`, received }
  }

  /** Makes the outbox poll, and waits until started work completes. */
  async function look(): Promise<void> {
    const { url, received } = receive()
    const { user, id } = await makeHook(test, { url })
    await star(test, user)
    await untilDeliveries(user, id, ['delivered'])
    expect(received.length).toBe(1)
  }

  describe('that is sent', () => {
    it('is a POST request with the event as JSON, and with headers that identify the event and the sender', async () => {
      const { url, received } = receive()
      const hook = await makeHook(test, { url: `${url}?token=a%20b`, secret: 'a secret' })
      outside.pages.set(`${new URL(url).host}${new URL(url).pathname}?token=a%20b`, outside.pages.get(url.slice(8))!)
      await star(test, hook.user)
      const [delivery] = await untilDeliveries(hook.user, hook.id, ['delivered'])
      const [{ headers, body } = {} as Received] = received
      expect(headers).toEqual({
        host: 'example.com',
        connection: 'keep-alive',
        'user-agent': 'skillstead',
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(body.length),
        'x-service-event': 'skill.starred',
        'x-service-delivery': delivery!.id,
        'x-service-signature': `sha256=${hmac('a secret', body).digest('hex')}`,
        'webhook-id': delivery!.eventId,
        'webhook-timestamp': String(test.clock.now() / 1000),
        'webhook-signature': standard('a secret', received[0]!),
      })
      expect(outside.requests.at(-1)).toBe(`POST ${url.slice(8)}?token=a%20b`)
      expect(JSON.parse(body.toString())).toEqual({
        id: delivery!.eventId,
        event: 'skill.starred',
        timestamp: '2026-01-02T12:00:00.000Z',
        data: {
          skill: expect.objectContaining({ fullName: `${hook.user.username}/starred` }),
          user: expect.objectContaining({ username: 'root' }),
          starCount: 1,
        },
      })
      expect(`${JSON.stringify(headers)}${body}`).not.toContain('a secret')
    })

    it('is signed over the bytes that are sent, also for multi-byte characters', async () => {
      const { url, received } = receive()
      const hook = await makeHook(test, { url, secret: 'ein Schlüssel ✓' })
      await partsOf(test.registry).database.writer.write((trx) =>
        partsOf(test.registry).outbox.enqueue(trx, {
          topic: 'webhook.delivery',
          partition: hook.id,
          payload: { webhookId: hook.id, eventId: hook.id, event: 'skill.starred', body: '{"text":"ünïcode ✓ 𝒳"}' },
        }),
      )
      await untilDeliveries(hook.user, hook.id, ['delivered'])
      const [{ headers, body } = {} as Received] = received
      expect(body.length).toBeGreaterThan(body.toString().length)
      expect(headers['x-service-signature']).toBe(`sha256=${hmac(Buffer.from('ein Schlüssel ✓'), body).digest('hex')}`)
      expect(headers['webhook-signature']).toBe(standard(Buffer.from('ein Schlüssel ✓'), received[0]!))
    })

    it('is signed once with the whole text of the secret, and once with the bytes that are encoded after whsec_', async () => {
      const { url, received } = receive()
      const hook = await makeHook(test, { url })
      await star(test, hook.user)
      await untilDeliveries(hook.user, hook.id, ['delivered'])
      const key = Buffer.from(hook.secret.slice('whsec_'.length), 'base64')
      expect(received[0]!.headers).toMatchObject({
        'x-service-signature': `sha256=${hmac(hook.secret, received[0]!.body).digest('hex')}`,
        'webhook-signature': standard(key, received[0]!),
      })
    })

    it('is signed with the new and the old secret for 24 hours after a change, then only with the new secret', async () => {
      const { url, received } = receive()
      const hook = await makeHook(test, { url, secret: 'the old one' })
      await hook.user.api.updateWebhook({ id: hook.id, secret: 'the new one' })
      const changedAt = test.clock.now()
      for (const afterMs of [0, dayMs - 1, dayMs]) {
        test.clock.set(changedAt + afterMs)
        const ping = await hook.user.api.pingWebhook({ id: hook.id })
        await expect.poll(async () => (await newestOf(hook.user, hook.id)).status).toBe('delivered')
        expect(received.at(-1)!.headers['x-service-delivery']).toBe(ping.id)
      }
      for (const each of received.slice(0, 2))
        expect(each.headers['webhook-signature']).toBe(
          `${standard('the new one', each)} ${standard('the old one', each)}`,
        )
      expect(received[2]!.headers['webhook-signature']).toBe(standard('the new one', received[2]!))
      for (const { headers, body } of received)
        expect(headers['x-service-signature']).toBe(`sha256=${hmac('the new one', body).digest('hex')}`)
    })
  })

  describe('with the standardwebhooks package', () => {
    let now: TestRegistry
    beforeAll(async () => {
      // The package always uses the system's clock.
      now = await open({ clock: createClock(Date.now()), outgoing: toOutgoing(outside) })
    })

    /** The delivery to a webhook with this secret, or with a generated one. */
    async function deliver(secret?: string) {
      const { url, received } = receive()
      const hook = await makeHook(now, { url, ...(secret === undefined ? {} : { secret }) })
      await star(now, hook.user)
      await untilDeliveries(hook.user, hook.id, ['delivered'])
      return { hook, first: received[0]!, received }
    }

    it('is verified with a generated secret and with a secret that the user chose', async () => {
      for (const given of [undefined, `whsec_${Buffer.from('twenty-four bytes of mine').toString('base64')}`]) {
        const { hook, first } = await deliver(given)
        const event = new Webhook(hook.secret).verify(first.body, headersOf(first))
        expect(event).toEqual(JSON.parse(first.body.toString()))
      }
    })

    it('is verified with the raw bytes of a secret that lacks the format of the package', async () => {
      const { first } = await deliver('ein Schlüssel ✓')
      const raw = new Webhook(Buffer.from('ein Schlüssel ✓'), { format: 'raw' })
      expect(raw.verify(first.body, headersOf(first))).toMatchObject({ event: 'skill.starred' })
    })

    it('is not verified if its body or its id was changed, or with another secret', async () => {
      const { hook, first } = await deliver()
      const webhook = new Webhook(hook.secret)
      const changed = first.body.toString().replace('"starCount":1', '"starCount":2')
      expect(changed).not.toBe(first.body.toString())
      expect(() => webhook.verify(changed, headersOf(first))).toThrow('No matching signature')
      const other = new Webhook(Buffer.from('another').toString('base64'))
      expect(() => other.verify(first.body, headersOf(first))).toThrow('No matching signature')
      const renamed = { ...headersOf(first), 'webhook-id': 'another' }
      expect(() => webhook.verify(first.body, renamed)).toThrow('No matching signature')
    })

    it('is verified with the old and with the new secret after a change of the secret', async () => {
      const { hook, received } = await deliver()
      const old = new Webhook(hook.secret)
      const secret = `whsec_${Buffer.from('the new secret of the receiver').toString('base64')}`
      await hook.user.api.updateWebhook({ id: hook.id, secret })
      await star(now, hook.user)
      await untilDeliveries(hook.user, hook.id, ['delivered', 'delivered'])
      for (const webhook of [old, new Webhook(secret)])
        expect(webhook.verify(received[1]!.body, headersOf(received[1]!))).toMatchObject({ data: { starCount: 1 } })
      expect(() => new Webhook(secret).verify(received[0]!.body, headersOf(received[0]!))).toThrow('No matching')
    })
  })

  describe('that fails', () => {
    it('is retried after 1, 5, 30 and 120 minutes, not a second earlier, and fails after the fifth attempt', async () => {
      const { url, received } = receive({ statuses: [500, 404, 301, 503, 400] })
      const hook = await makeHook(test, { url })
      const startMs = test.clock.now()
      await star(test, hook.user)
      for (const [i, delayMs] of delaysMs.entries()) {
        const tried = await untilTried(hook, i + 1)
        const due = new Date(test.clock.now() + delayMs).toISOString()
        expect(tried).toMatchObject({ status: 'pending', nextAttemptAt: due })
        test.clock.advance(delayMs - 1000)
        await look()
        expect(received.length).toBe(i + 1)
        test.clock.advance(1000)
      }
      const failed = await untilTried(hook, 5)
      const seconds = received.map(({ at }) => (at - startMs) / 1000)
      expect(seconds).toEqual([0, 60, 360, 2160, 9360])
      expect(failed).toMatchObject({ status: 'failed', nextAttemptAt: null })
      expect(failed.attempts).toEqual(
        received.map(({ at }, i) => ({
          number: i + 1,
          at: new Date(at).toISOString(),
          statusCode: [500, 404, 301, 503, 400][i],
          durationMs: expect.any(Number),
          error: expect.stringContaining('receiver answered with'),
        })),
      )
      test.clock.advance(dayMs)
      await look()
      expect(received.length).toBe(5)
    })

    it('sends the same event at every attempt, with a new timestamp and signature', async () => {
      const { url, received } = receive({ statuses: [500, 500, 200] })
      const hook = await makeHook(test, { url })
      await star(test, hook.user)
      await untilTried(hook, 1)
      test.clock.advance(minuteMs)
      await untilTried(hook, 2)
      test.clock.advance(5 * minuteMs)
      await untilDeliveries(hook.user, hook.id, ['delivered'])
      const of = (name: string) => new Set(received.map(({ headers }) => headers[name]))
      expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1)
      for (const same of ['webhook-id', 'x-service-delivery', 'x-service-signature']) expect(of(same).size).toBe(1)
      expect([...of('webhook-timestamp')]).toEqual(received.map(({ at }) => String(at / 1000)))
      expect(of('webhook-signature').size).toBe(3)
      const key = Buffer.from(hook.secret.slice('whsec_'.length), 'base64')
      for (const each of received) expect(each.headers['webhook-signature']).toBe(standard(key, each))
    })

    it.each([1, 2, 3, 4, 5])('is completed by a 2xx response to attempt %i, and is not sent again', async (last) => {
      const { url, received } = receive({ statuses: [...Array<number>(last - 1).fill(500), 299, 500] })
      const hook = await makeHook(test, { url })
      await star(test, hook.user)
      for (let attempt = 1; attempt < last; attempt++) {
        await untilTried(hook, attempt)
        test.clock.advance(delaysMs[attempt - 1]!)
      }
      const [delivery] = await untilDeliveries(hook.user, hook.id, ['delivered'])
      expect(delivery).toMatchObject({ nextAttemptAt: null })
      expect(delivery!.attempts.at(-1)).toMatchObject({ number: last, statusCode: 299, error: null })
      test.clock.advance(dayMs)
      await look()
      expect(received.length).toBe(last)
    })

    it("uses the webhook's URL and secret at the time of the attempt", async () => {
      const before = receive({ statuses: [500] })
      const after = receive()
      const hook = await makeHook(test, { url: before.url, secret: 'the old one' })
      await star(test, hook.user)
      await untilTried(hook, 1)
      await hook.user.api.updateWebhook({ id: hook.id, url: after.url, secret: 'the new one' })
      test.clock.advance(minuteMs)
      await untilDeliveries(hook.user, hook.id, ['delivered'])
      expect([before.received.length, after.received.length]).toEqual([1, 1])
      const [{ headers, body } = {} as Received] = after.received
      expect(headers['x-service-signature']).toBe(`sha256=${hmac('the new one', body).digest('hex')}`)
    })

    it("is not sent unencrypted, whatever its webhook's URL", async () => {
      const { url, received } = receive()
      const hook = await makeHook(test, { url })
      await partsOf(test.registry).database.writer.write((trx) =>
        trx
          .updateTable('webhooks')
          .set({ url: url.replace('https:', 'http:') })
          .where('id', '=', hook.id)
          .execute(),
      )
      await star(test, hook.user)
      const { attempts } = await untilTried(hook, 1)
      expect(attempts[0]).toMatchObject({ statusCode: null, error: 'url must be an https URL.' })
      expect(received).toEqual([])
    })

    it('does not reveal internal errors of the registry', async () => {
      const { url, received } = receive()
      const { user, id } = await makeHook(test, { url })
      const { database, outbox } = partsOf(test.registry)
      const payload = { webhookId: id, eventId: unknownId, event: 'ping', body: '{}' }
      await database.writer.write(async (trx) => {
        await outbox.enqueue(trx, { topic: 'webhook.ping', partition: id, payload })
        await trx.schema.alterTable('webhooks').renameTo('webhooks_away').execute()
      })
      const row = database.read.selectFrom('outbox').select('state').where('partition', '=', id)
      await expect.poll(() => row.execute()).toEqual([{ state: 'failed' }])
      await database.writer.write((trx) => trx.schema.alterTable('webhooks_away').renameTo('webhooks').execute())
      const { attempts } = await newestOf(user, id)
      expect(attempts.map(({ error }) => error)).toEqual([
        'The registry could not prepare the delivery because of an internal error.',
      ])
      expect(received).toEqual([])
    })

    it('is not retried, and states the reason, if the plan of the owner includes no webhooks', async () => {
      const { url, received } = receive({ statuses: [500] })
      const hook = await makeHook(test, { url })
      await star(test, hook.user)
      await untilTried(hook, 1)
      const { database } = partsOf(test.registry)
      const setPlan = (plan: 'free' | 'pro') =>
        database.writer.write((trx) =>
          trx.updateTable('users').set({ plan }).where('username', '=', hook.user.username).execute(),
        )
      await setPlan('free')
      test.clock.advance(minuteMs)
      await look()
      await setPlan('pro')
      const { status, attempts } = await untilTried(hook, 2)
      expect({ status, error: attempts[1]!.error }).toEqual({
        status: 'failed',
        error: "The plan of the webhook's owner does not include webhooks.",
      })
      expect(received.length).toBe(1)
    })
  })

  it('is dropped and hidden when its user may no longer read the skill', async () => {
    const { url, received } = receive({ statuses: [500, 200] })
    const [owner, reader] = [await test.makeUser(), await test.makeUser(undefined, { plan: 'pro' })]
    const name = `${owner.username}/closed`
    await owner.api.publishSkill({ skillMd: skillMd('closed'), visibility: 'private' })
    await addCollaborator(test, owner, { name, username: reader.username, role: 'read' })
    const { id } = await reader.api.createWebhook({ events: ['skill.published'], url })
    await owner.api.publishSkill({ skillMd: skillMd('closed', { version: '2.0.0' }) })
    await expect.poll(async () => (await newestOf(reader, id)).attempts.length).toBe(1)
    const { id: deliveryId } = await newestOf(reader, id)
    await owner.api.deleteCollaborator({ name, username: reader.username })
    expect((await reader.api.getWebhook({ id })).deliveries).toEqual([])
    expect(await codeOf(reader.api.getDelivery({ id, deliveryId }))).toBe('not_found')
    expect(await codeOf(reader.api.retryDelivery({ id, deliveryId }))).toBe('not_found')
    test.clock.advance(minuteMs)
    await look()
    const row = partsOf(test.registry).database.read.selectFrom('outbox').select('state').where('id', '=', deliveryId)
    await expect.poll(async () => (await row.executeTakeFirstOrThrow()).state).toBe('failed')
    const ids = received.map(({ headers }) => headers['x-service-delivery'])
    expect(ids.filter((one) => one === deliveryId)).toHaveLength(1)
    const run = partsOf(test.registry).database.read.selectFrom('webhooks').select('failed_run').where('id', '=', id)
    expect((await run.executeTakeFirstOrThrow()).failed_run, 'of the receiver').toBe(0)
  })

  it('that fails is retried at the scheduled times with a real clock', async () => {
    const timed = await open({ clock: createFastClock(3000), outgoing: toOutgoing(outside) })
    const { url, received } = receive({ statuses: [500], now: timed.clock.now })
    const hook = await makeHook(timed, { url })
    await star(timed, hook.user)
    const failed = await untilTried(hook, 5)
    expect(failed.status).toBe('failed')
    expect(received.length).toBe(5)
    const at = failed.attempts.map((attempt) => Date.parse(attempt.at))
    for (const [i, delayMs] of delaysMs.entries()) expect(at[i + 1]! - at[i]!).toBeGreaterThanOrEqual(delayMs)
    expect(failed.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500, 500, 500])
    expect(at[4]! - at[0]!).toBeGreaterThanOrEqual(2 * hourMs + 36 * minuteMs)
  })
})

/** The real clock, accelerated by a factor. */
function createFastClock(factor: number): TestClock {
  const startMs = Date.now()
  const clock: Clock = {
    now: () => startMs + (Date.now() - startMs) * factor,
    setTimer(ms, callback) {
      const timer = setTimeout(callback, Math.max(0, ms / factor))
      return () => clearTimeout(timer)
    },
  }
  return { ...clock, set: leaveAlone, advance: leaveAlone }
}

function leaveAlone(): never {
  throw new TypeError('This clock goes by itself.')
}
