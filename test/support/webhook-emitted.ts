import type { NameResolver } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { WebhookEvent, eventNames, type EventName, type PublishSkillInput } from '@skillstead/protocol'
import * as v from 'valibot'
import { expect } from 'vitest'
import { skillMd } from './answers.ts'
import type { Open, TestRegistry, TestUser } from './harness.ts'
import { toStrictSchema } from './strict-schema.ts'
import type { WebhookInput } from './webhook-acts.ts'

const nowhere: NameResolver = {
  lookup: () => Promise.reject(Object.assign(new Error('There is nothing.'), { code: 'ENOTFOUND' })),
  txt: () => Promise.reject(Object.assign(new Error('There is nothing.'), { code: 'ENOTFOUND' })),
}

/** A registry that writes deliveries and sends none, so that all of them can be read. */
export function openSilent(open: Open, options: Parameters<Open>[0] = {}): Promise<TestRegistry> {
  return open({ works: false, outgoing: { resolver: nowhere }, ...options })
}

/** An event, as the receiver of the webhook reads it. */
export type Told = Pick<WebhookEvent, 'event' | 'data'>

/** A webhook of a test. */
export interface Hook {
  readonly id: string
  /** Returns the events since the last call, in the order of their causes. */
  take(): Promise<Told[]>
}

/** Creates a webhook. Default: all events. */
export async function hookUp(test: TestRegistry, { api }: TestUser, input: Partial<WebhookInput> = {}): Promise<Hook> {
  const { id } = await api.createWebhook({ url: 'https://hooks.example.com/', events: [...eventNames], ...input })
  let seen = 0
  return {
    id,
    async take() {
      const { counters, telemetry } = partsOf(test.registry)
      await counters.flush()
      await telemetry.flush()
      const told = (await readEvents(test, id)).slice(seen)
      seen += told.length
      return told.map(({ event, data }) => ({ event, data }) as Told)
    },
  }
}

const StrictEvent = toStrictSchema(WebhookEvent)

/** Returns all events of a webhook, oldest first, each checked against the event table. */
export async function readEvents({ registry }: TestRegistry, webhookId: string): Promise<WebhookEvent[]> {
  const rows = await partsOf(registry)
    .database.read.selectFrom('outbox')
    .select('payload')
    .where('partition', '=', webhookId)
    .orderBy('id')
    .execute()
  const events = rows.map(({ payload }) => {
    const delivery = JSON.parse(payload) as { body: string; event: EventName; eventId: string }
    const event = v.parse(StrictEvent, JSON.parse(delivery.body)) as WebhookEvent
    expect(event).toMatchObject({ id: delivery.eventId, event: delivery.event })
    return event
  })
  expect(new Set(events.map(({ id }) => id)).size, 'each once').toBe(events.length)
  return events
}

/** An author on the Pro plan with a public skill `main` and a webhook of every event, and a user on the Free plan. */
export interface World {
  readonly owner: TestUser
  readonly bob: TestUser
  readonly hook: Hook
  /** The full name of the owner's skill of a short name. */
  full(name: string): string
  /** Publishes a skill of the owner, or another version of it. */
  publish(name: string, version?: string, visibility?: PublishSkillInput['visibility']): Promise<void>
}

let worlds = 0

export async function makeWorld(test: TestRegistry): Promise<World> {
  const owner = await test.makeUser(`owner-${++worlds}`, { plan: 'pro' })
  const bob = await test.makeUser(`bob-${worlds}`)
  const publish: World['publish'] = async (name, version, visibility) => {
    await owner.api.publishSkill({ skillMd: skillMd(name, { version }), visibility })
  }
  await publish('main')
  return { owner, bob, hook: await hookUp(test, owner), full: (name) => `${owner.username}/${name}`, publish }
}

/** Triggers every event but `skill.published` happen once, about one skill. */
export async function actOthers({ owner, bob, full }: World, name = 'main'): Promise<void> {
  const input = { name: full(name) }
  await bob.api.starSkill(input)
  await bob.api.createReview({ ...input, rating: 2, title: 'It', body: 'It.' })
  await bob.api.createIssue({ ...input, type: 'bug', title: 'It', body: 'It.' })
  await bob.api.getSkillMd(input)
  await bob.api.followUser({ username: owner.username })
}

/** Triggers each of the six events for one skill. */
export async function actAll(world: World, name = 'main'): Promise<void> {
  await actOthers(world, name)
  await world.publish(name, '9.0.0')
}
