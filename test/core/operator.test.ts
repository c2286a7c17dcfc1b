import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
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
} from '../support/webhook-acts.ts'
import { openRegistry } from '../support/open-registry.ts'
import { seededRandom } from '../support/random.ts'

const dayMs = 86_400_000
const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'

describeApi("the operator's view", (open, { dialect, transport }) => {
  let outside: Outside
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    outside = await openOutside(['hooks.example.com'])
    test = await open({ outgoing: toOutgoing(outside), webhooks: { offAfterFailures: 0 } })
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({
      skillMd: skillMd('large'),
      files: [{ path: 'a.txt', content: 'a'.repeat(50_000) }],
    })
    await alice.api.publishSkill({ skillMd: skillMd('small') })
    await alice.api.createPack({ name: 'Both', description: '', skills: ['large', 'small'] })
  })
  afterAll(() => outside.close())

  it('is only for administrators', async () => {
    const calls = (['getOverview', 'listOutbox', 'getStorage', 'getRateLimits', 'listMirrors'] as const).map(
      (name) => [name, (user?: TestUser) => (user?.api ?? test.api())[name]()] as const,
    )
    for (const [name, call] of calls) {
      expect(await codeOf(call()), name).toBe('unauthorized')
      expect(await codeOf(call(alice)), name).toBe('forbidden')
    }
    const { key } = await test.admin.api.createApiKey({ name: 'reader', scopes: ['read'] })
    expect(await codeOf(test.apiWithKey(key).getOverview())).toBe('forbidden')
  })

  it('has an overview of stored data and pending work', async () => {
    const overview = await test.admin.api.getOverview()
    expect(overview).toMatchObject({
      startedAt: '2026-01-02T12:00:00.000Z',
      origin: partsOf(test.registry).origin,
      database: dialect === 'SQLite' ? 'sqlite' : 'postgres',
      network: null,
      counts: { skills: 2, versions: 2, users: 2, packs: 1 },
      outbox: { failed: 0 },
      search: { documents: 2, ready: true },
      log: { size: expect.any(Number), lastEntryAt: '2026-01-02T12:00:00.000Z' },
      scans: { pending: 0 },
      alarms: [],
    })
    expect(overview.version === null).toBe(transport === 'in-process')
    expect(overview.log.size).toBeGreaterThan(1)
    expect(overview.outbox.pending, 'such as tomorrow’s housekeeping').toBeGreaterThan(0)
  })

  it('shows storage use, in total and per skill', async () => {
    const storage = await test.admin.api.getStorage()
    expect(storage.largest.map(({ fullName }) => fullName)).toEqual(['alice/large', 'alice/small'])
    expect(storage.largest[0]!.bytes).toBeGreaterThan(50_000)
    expect(storage.contentBytes).toBe(storage.largest[0]!.bytes + storage.largest[1]!.bytes)
    expect(storage.blobs).toBe(3)
    expect(storage.databaseBytes).toBeGreaterThan(0)
    expect(storage.walBytes === null).toBe(dialect === 'PostgreSQL')
    expect(storage.freeBytes === null).toBe(dialect === 'PostgreSQL')
  })

  it('shows the rate limits in force', async () => {
    const { on, anonymous, plans, limitedTotal } = await test.admin.api.getRateLimits()
    expect([on, anonymous]).toEqual([false, 600])
    expect(plans[0]).toEqual({ plan: 'free', requestsPerMinute: 60 })
    expect(plans.map(({ plan }) => plan)).toEqual(['free', 'pro', 'team', 'enterprise'])
    expect(limitedTotal).toBe(transport === 'HTTP' ? 0 : null)
  })

  it('shows the body of a delivery only to its owner', async () => {
    const receiver = openReceiver(outside)
    const { user, id } = await makeSubscriber(test, receiver)
    await star(test, user)
    const [delivery] = await untilDeliveries(user, id, ['delivered'])
    const shown = await user.api.getDelivery({ id, deliveryId: delivery!.id })
    expect(shown).toEqual({ ...delivery, body: receiver.received[0]!.body })
    expect(JSON.parse(shown.body)).toMatchObject({ id: delivery!.eventId, event: 'skill.starred' })
    expect(await codeOf(user.api.getDelivery({ id, deliveryId: unknownId }))).toBe('not_found')
    expect(await codeOf(test.admin.api.getDelivery({ id, deliveryId: delivery!.id }))).toBe('not_found')
    expect(await codeOf(alice.api.getDelivery({ id, deliveryId: delivery!.id }))).toBe('plan_required')
    const other = await makeSubscriber(test, openReceiver(outside))
    expect(await codeOf(other.user.api.getDelivery({ id: other.id, deliveryId: delivery!.id }))).toBe('not_found')
  })

  it('lists failed and pending outbox rows without payload, and retries them', async () => {
    const receiver = openReceiver(outside, 500)
    const { user, id } = await makeSubscriber(test, receiver)
    await star(test, user)
    await exhaust(test, user, id)
    await star(test, user)
    await expect.poll(async () => (await user.api.getWebhook({ id })).deliveries[0]!.attempts.length).toBe(1)
    const kind = 'webhook.delivery'
    const { rows, counts, total } = await test.admin.api.listOutbox({ kind })
    expect(rows.map(({ state, attempts, nextAt }) => [state, attempts, nextAt])).toEqual([
      ['failed', 5, null],
      ['pending', 1, new Date(test.clock.now() + minuteMs).toISOString()],
    ])
    const lastError = 'The receiver answered with 500; a response of 2xx is needed.'
    expect(rows[0]).toMatchObject({ kind, partition: id, lastError })
    expect(JSON.stringify(rows)).not.toContain(receiver.url)
    expect(total).toBe(2)
    expect(counts.find((one) => one.kind === kind)).toEqual({ kind, pending: 1, failed: 1 })
    expect((await test.admin.api.listOutbox({ state: 'failed' })).rows).toEqual([rows[0]])
    expect((await test.admin.api.listOutbox({ kind, limit: 1, page: 2 })).rows).toEqual([rows[1]])
    expect((await test.admin.api.listOutbox({ kind, limit: 1, page: 3 })).rows).toEqual([])
    expect((await test.admin.api.getOverview()).outbox).toMatchObject({ failed: 1 })

    receiver.status = 200
    expect(await test.statusOf(test.admin, 'retryOutboxRow', { id: rows[0]!.id })).toBe(202)
    const retried = async () => (await user.api.getWebhook({ id })).deliveries.map(({ status }) => status)
    await expect.poll(retried).toEqual(['pending', 'delivered'])
    const done = await test.admin.api.listOutbox({ kind, state: 'done' })
    expect(done.rows[0]).toMatchObject({ id: rows[0]!.id, state: 'done', attempts: 6, lastError: null, nextAt: null })
    expect(await codeOf(test.admin.api.retryOutboxRow({ id: rows[0]!.id }))).toBe('invalid_transition')
    expect(await codeOf(test.admin.api.retryOutboxRow({ id: unknownId }))).toBe('not_found')
    expect(await codeOf(user.api.retryOutboxRow({ id: rows[1]!.id }))).toBe('forbidden')
    const { entries } = await test.admin.api.listAudit({ action: 'outbox.retry' })
    expect(entries).toMatchObject([{ actor: 'root', subject: kind, data: { id: rows[0]!.id } }])
  })
})

describeDatabases('the overview of the public log', (open) => {
  const today = Math.floor(startMs / dayMs)
  const toDate = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10)
  const shown = Array.from({ length: 30 }, (_, i) => today - 29 + i)

  it('counts the entries of each of the last 30 days in UTC, including days without entries', async () => {
    const test = await open()
    const readDays = async () => (await test.admin.api.getOverview()).log.days
    expect(await readDays()).toEqual(shown.map((day) => ({ day: toDate(day), entries: 0 })))
    const times = [-40, -30, -30, -29, -7, -7, -7, -1, 0, 0].map((day) => (today + day) * dayMs)
    // The first and the last millisecond of days.
    times.splice(3, 0, (today - 29) * dayMs - 1)
    times.splice(9, 0, today * dayMs - 1)
    for (const [i, at] of times.entries()) {
      test.clock.set(at)
      await test.admin.api.publishSkill({ skillMd: skillMd(`skill-${i}`) })
    }
    test.clock.set((today + 1) * dayMs - 1)
    const counts = new Map([
      [-29, 1],
      [-7, 3],
      [-1, 2],
      [0, 2],
    ])
    expect(await readDays()).toEqual(shown.map((day) => ({ day: toDate(day), entries: counts.get(day - today) ?? 0 })))
    test.clock.set((today + 1) * dayMs)
    expect((await readDays()).slice(-2)).toEqual([
      { day: toDate(today), entries: 2 },
      { day: toDate(today + 1), entries: 0 },
    ])
  })

  it('counts every entry once in a long log, also if the clock was set back meanwhile', async () => {
    const test = await open()
    const random = seededRandom(7)
    const { database } = partsOf(test.registry)
    const times = Array.from({ length: 3000 }, () => startMs - Math.floor(random() ** 2 * 50 * dayMs))
    const sorted = times.toSorted((a, b) => a - b)
    const write = (all: readonly number[]) =>
      database.writer.write(async (trx) => {
        await trx.deleteFrom('log').execute()
        const rows = all.map((at, i) => ({
          seq: i + 1,
          at,
          hash: Buffer.alloc(32),
          type: 'skill',
          subject: '',
          entry: '',
        }))
        for (let i = 0; i < rows.length; i += 500)
          await trx
            .insertInto('log')
            .values(rows.slice(i, i + 500).map((row) => ({ ...row, digest: null })))
            .execute()
      })
    await write(sorted)
    const { days, size } = (await test.admin.api.getOverview()).log
    const countOn = (day: number) => times.filter((at) => Math.floor(at / dayMs) === day).length
    expect(size).toBe(3000)
    expect(days).toEqual(shown.map((day) => ({ day: toDate(day), entries: countOn(day) })))
    await write(times)
    const unsorted = (await test.admin.api.getOverview()).log.days.map(({ entries }) => entries)
    expect(Math.min(...unsorted)).toBeGreaterThanOrEqual(0)
    expect(unsorted.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(3000)
  })
})

describe('the operator of a registry in memory', () => {
  it('can read the size of the registry, and that it is not on disk', async () => {
    const registry = await openRegistry({ path: ':memory:', works: false })
    const storage = await localApi(registry, systemCaller).getStorage()
    expect(storage).toMatchObject({ walBytes: 0, freeBytes: null, blobs: 0, contentBytes: 0, largest: [] })
    expect(storage.databaseBytes).toBeGreaterThan(0)
    await registry.close()
  })
})
