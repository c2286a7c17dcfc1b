import { buffer } from 'node:stream/consumers'
import { createReceiver, WebhookError, type ReceiverOptions } from '@skillstead/client/webhooks'
import type { WebhookEvent } from '@skillstead/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import { otherSecret } from '../support/signed-delivery.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const waiting = { timeout: 60_000 }

describeApi('a receiver of real deliveries', (start) => {
  const url = 'https://hooks.example.com/receiver'
  let outside: Outside
  let test: TestRegistry
  beforeAll(async () => {
    outside = await openOutside(['example.com'])
    const outgoing = { allowNetworks: ['127.0.0.1'], ca: [outside.ca], resolver: outside.resolver }
    test = await start({ outgoing })
  })
  afterAll(() => outside.close())

  /** Starts a receiver at the address; returns the handled events and the response statuses. */
  function listen(options: ReceiverOptions, handle: (each: WebhookEvent) => unknown = () => {}) {
    const receiver = createReceiver({ now: test.clock.now, ...options })
    const seen = { events: [] as WebhookEvent[], statuses: [] as number[] }
    outside.pages.set('hooks.example.com/receiver', async (request, response) => {
      const delivery = receiver.receive(request.headers, await buffer(request), async (each) => {
        await handle(each)
        seen.events.push(each)
      })
      const status = await delivery.then(
        () => 204,
        (error) => (error instanceof WebhookError ? 401 : 500),
      )
      seen.statuses.push(status)
      response.writeHead(status).end()
    })
    return seen
  }

  async function subscribe(given?: string) {
    const user = await test.makeUser(undefined, { plan: 'pro' })
    await user.api.publishSkill({ skillMd: skillMd('tea') })
    const { id, secret = given! } = await user.api.createWebhook({ url, events: ['skill.starred'], secret: given })
    return { user, id, secret }
  }

  it.each([undefined, otherSecret])(
    'accepts deliveries from a node, and the retry of a delivery whose handler failed, with the secret %s',
    async (given) => {
      const { user, id, secret } = await subscribe(given)
      let failures = 1
      const { events, statuses } = listen({ secret }, () => {
        if (failures-- > 0) throw new Error('not yet')
      })
      await test.admin.api.starSkill({ name: `${user.username}/tea` })
      const newest = async () => (await user.api.getWebhook({ id })).deliveries[0]!
      await expect.poll(async () => (await newest()).attempts.length, waiting).toBe(1)
      test.clock.advance(minuteMs)
      await expect.poll(async () => (await newest()).status, waiting).toBe('delivered')
      const { eventId, attempts } = await newest()
      expect({ statuses, attempts }).toMatchObject({
        statuses: [500, 204],
        attempts: [{ statusCode: 500 }, { statusCode: 204 }],
      })
      expect(events).toMatchObject([{ id: eventId, event: 'skill.starred', data: { user: { username: 'root' } } }])
      await user.api.deleteWebhook({ id })
    },
  )

  it('accepts deliveries during a secret rotation if it knows the old secret, the new secret or both', async () => {
    const { user, id, secret: old } = await subscribe()
    await user.api.updateWebhook({ id, secret: otherSecret })
    const ping = async (known: string | string[]) => {
      const { events, statuses } = listen({ secret: known })
      await user.api.pingWebhook({ id })
      await expect.poll(() => statuses, waiting).toHaveLength(1)
      return [...statuses, ...events.map(({ event }) => event)]
    }
    for (const known of [old, otherSecret, [old, otherSecret]]) expect(await ping(known)).toEqual([204, 'ping'])
    expect(await ping('the secret of another webhook')).toEqual([401])
    test.clock.advance(25 * hourMs)
    expect(await ping(old)).toEqual([401])
    expect(await ping(otherSecret)).toEqual([204, 'ping'])
    await user.api.deleteWebhook({ id })
  })
})
