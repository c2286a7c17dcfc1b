import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { Input, Output, endpoints } from '@skillstead/protocol'
import { skillMd } from './answers.ts'
import type { Open, TestRegistry, TestUser } from './harness.ts'
import type { Outside } from './outside.ts'

const domain = 'hooks.example.com'
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
/** From each attempt of a delivery to the next (docs/api.md#deliveries). */
export const delaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs]

export type WebhookInput = Input<(typeof endpoints)['createWebhook']>
type ShownWebhook = Output<(typeof endpoints)['getWebhook']>

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of deliveries that responds to each with the status. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  status: number
}

/** Options for a registry that reaches the outside on loopback; `inner.example.com` is in a private network. */
export function toOutgoing({ ca, resolver }: Outside): NonNullable<Parameters<Open>[0]>['outgoing'] {
  const lookup = async (host: string) =>
    host === 'inner.example.com' ? [{ address: '10.1.2.3' }] : resolver.lookup(host)
  return { allowNetworks: ['127.0.0.1'], ca: [ca], resolver: { ...resolver, lookup } }
}

let receivers = 0

export function openReceiver(outside: Outside, status = 200): Receiver {
  const page = `${domain}/${++receivers}`
  const receiver: Receiver = { url: `https://${page}`, received: [], status }
  outside.pages.set(page, async (request, response) => {
    receiver.received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(receiver.status).end('Seen.')
  })
  return receiver
}

let subscribers = 0

/** An author on the Pro plan with one skill, and a webhook that hears of its stars. */
export async function makeSubscriber(
  test: TestRegistry,
  { url, events = ['skill.starred'], skills, secret }: Pick<WebhookInput, 'url'> & Partial<WebhookInput>,
) {
  const user = await test.makeUser(`subscriber-${++subscribers}`, { plan: 'pro' })
  await user.api.publishSkill({ skillMd: skillMd('starred') })
  const made = await user.api.createWebhook({ url, events, skills, secret })
  return { user, id: made.id, secret: secret ?? made.secret! }
}

/** Triggers N events for the subscriber. */
export async function star(test: TestRegistry, { username }: TestUser, times = 1): Promise<void> {
  const name = `${username}/starred`
  for (let i = 0; i < times; i++) {
    await test.admin.api.starSkill({ name })
    await test.admin.api.unstarSkill({ name })
  }
}

/** Waits until the webhook has these properties, as its owner sees it. */
export async function untilWebhook(user: TestUser, id: string, expected: object): Promise<ShownWebhook> {
  await expect.poll(() => user.api.getWebhook({ id })).toMatchObject(expected)
  return user.api.getWebhook({ id })
}

/** Waits until the deliveries of a webhook have these statuses, newest first. */
export async function untilDeliveries(user: TestUser, id: string, statuses: readonly string[]) {
  const read = async () => (await user.api.getWebhook({ id })).deliveries
  await expect.poll(async () => (await read()).map(({ status }) => status)).toEqual(statuses)
  return read()
}

/** Makes the remaining attempts of the newest delivery fail. */
export async function exhaust(test: TestRegistry, user: TestUser, id: string): Promise<void> {
  const newest = async () => (await user.api.getWebhook({ id })).deliveries[0]!
  for (const [i, delayMs] of delaysMs.entries()) {
    await expect.poll(async () => (await newest()).attempts.length).toBe(i + 1)
    test.clock.advance(delayMs)
  }
  await expect.poll(async () => (await newest()).status).toBe('failed')
}

export function sign(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
