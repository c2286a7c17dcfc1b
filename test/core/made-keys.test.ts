import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { codeOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeDatabases, describeMatrix, type TestRegistry, type TestUser } from '../support/harness.ts'

const dayMs = 86_400_000
const toMs = (timestamp: string | null) => (timestamp === null ? Infinity : Date.parse(timestamp))

/** The API of a caller who signed in to the dashboard with a key. */
async function openSession(test: TestRegistry, key: string): Promise<{ api: RegistryApi; expiresAt: string }> {
  const caller = await test.registry.authenticate(key)
  const { session, expiresAt } = await localApi(test.registry, caller).createSession()
  return { api: localApi(test.registry, await test.registry.authenticateSession(session!)), expiresAt }
}

const isValid = (test: TestRegistry, key: string) =>
  test.registry.authenticate(key).then(
    () => true,
    () => false,
  )
const expiringKey = (user: TestUser, expiresInDays = 2) => user.api.createApiKey({ name: 'short', expiresInDays })

describeMatrix('a key or share link that an API key creates', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  describe('ends no later than the creating key', () => {
    it('whatever expiry was requested', async () => {
      const short = await expiringKey(alice)
      test.clock.advance(3_600_000)
      const api = test.apiWithKey(short.key)
      const unlimited = await api.createApiKey({ name: 'unlimited' })
      const longer = await api.createApiKey({ name: 'longer', expiresInDays: 365 })
      const shorter = await api.createApiKey({ name: 'shorter', expiresInDays: 1 })
      expect([unlimited.expiresAt, longer.expiresAt]).toEqual([short.expiresAt, short.expiresAt])
      expect(toMs(shorter.expiresAt)).toBe(test.clock.now() + dayMs)
      for (const made of [unlimited, longer, shorter]) expect(made.madeBy).toBe(short.id)
      test.clock.set(toMs(short.expiresAt))
      for (const { key } of [unlimited, longer]) expect(await codeOf(test.apiWithKey(key).getMe())).toBe('unauthorized')
    })

    it('even if it is created in a session of the creating key', async () => {
      const short = await expiringKey(alice)
      const { api } = await openSession(test, short.key)
      const made = await api.createApiKey({ name: 'from the dashboard' })
      expect(made).toMatchObject({ expiresAt: short.expiresAt, madeBy: short.id })
      const unlimited = await openSession(test, alice.key)
      expect((await unlimited.api.createApiKey({ name: 'lasting' })).expiresAt).toBeNull()
    })

    it('if an administrator issues it to another user, or as the first key of a new user', async () => {
      const short = await expiringKey(test.admin, 1)
      const api = test.apiWithKey(short.key)
      const issued = await api.issueKey({ username: 'alice', expiresInDays: 30 })
      expect(issued).toMatchObject({ expiresAt: short.expiresAt, madeBy: short.id })
      const created = await api.createUser({ username: `made-${test.clock.now()}` })
      expect(created.keyExpiresAt).toBe(short.expiresAt)
      const { apiKeys } = await test.apiWithKey(created.key).listApiKeys()
      expect(apiKeys).toMatchObject([{ expiresAt: short.expiresAt, madeBy: short.id }])
      const lasting = await test.admin.api.createUser({ username: `lasts-${test.clock.now()}` })
      expect(lasting.keyExpiresAt).toBeNull()
    })

    it('if it is a share link', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('shared'), visibility: 'private' })
      const short = await expiringKey(alice)
      const link = await test.apiWithKey(short.key).createShare({ name: 'shared', expiresInDays: 30 })
      expect(link.expiresAt).toBe(short.expiresAt)
    })

    it('and is not created if the creating key is revoked during the request', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('refused'), visibility: 'private' })
      const gone = await alice.api.createApiKey({ name: 'gone' })
      const api = localApi(test.registry, await test.registry.authenticate(gone.key))
      await alice.api.deleteApiKey({ id: gone.id })
      const refusal = await refusalOf(api.createApiKey({ name: 'orphan' }))
      expect(refusal).toMatchObject({ code: 'unauthorized', message: 'This API key is no longer valid.' })
      expect(await codeOf(api.createShare({ name: 'refused' }))).toBe('unauthorized')
      expect(await codeOf(api.createSession())).toBe('unauthorized')
    })
  })

  describe('is revoked together with the creating key on request', () => {
    it('through the whole chain of keys, and only if the request asks for it', async () => {
      const user = await test.makeUser()
      await user.api.publishSkill({ skillMd: skillMd('linked'), visibility: 'private' })
      const other = await user.api.createApiKey({ name: 'other' })
      const root = await user.api.createApiKey({ name: 'root' })
      const session = await openSession(test, root.key)
      const child = await session.api.createApiKey({ name: 'child' })
      const grandchild = await test.apiWithKey(child.key).createApiKey({ name: 'grandchild' })
      const { token } = await test.apiWithKey(grandchild.key).createShare({ name: 'linked' })
      const made = async () =>
        Object.fromEntries((await user.api.listApiKeys()).apiKeys.map((key) => [key.name, [key.madeBy, key.made]]))
      const first = (await user.api.listApiKeys()).apiKeys.find(({ name }) => name === 'first key')!
      expect(await made()).toEqual({
        'first key': [null, 2],
        other: [first.id, 0],
        root: [first.id, 1],
        child: [root.id, 1],
        grandchild: [child.id, 1],
      })
      // What a revoked key leaves belongs to the key that made it.
      expect(await test.statusOf(user, 'deleteApiKey', { id: child.id })).toBe(204)
      expect(await made()).toMatchObject({ root: [first.id, 1], grandchild: [root.id, 1] })
      expect((await test.apiWithKey(grandchild.key).getMe()).username).toBe(user.username)

      expect(await test.statusOf(user, 'deleteApiKey', { id: root.id, withMade: true })).toBe(204)
      expect(await made()).toEqual({ 'first key': [null, 1], other: [first.id, 0] })
      for (const api of [session.api, test.apiWithKey(grandchild.key)])
        expect(await codeOf(api.createApiKey({ name: 'x' }))).toBe('unauthorized')
      expect(await codeOf(test.apiWith({ shareToken: token! }).getSkill({ name: `${user.username}/linked` }))).toBe(
        'not_found',
      )
      expect((await test.apiWithKey(other.key).getMe()).username).toBe(user.username)
    })

    it('for other users only if the owner of the creating key is an administrator', async () => {
      const chief = await test.makeUser('chief', { role: 'admin' })
      const [lent, kept] = [
        await chief.api.createApiKey({ name: 'lent' }),
        await chief.api.createApiKey({ name: 'kept' }),
      ]
      const issue = async ({ key }: { key: string }) => test.apiWithKey(key).issueKey({ username: 'alice' })
      const [fromLent, fromKept] = [await issue(lent), await issue(kept)]
      const below = await test.apiWithKey(fromLent.key).createApiKey({ name: 'below' })
      await chief.api.deleteApiKey({ id: lent.id, withMade: true })
      for (const { key } of [fromLent, below]) expect(await codeOf(test.apiWithKey(key).getMe())).toBe('unauthorized')
      const { entries } = await test.admin.api.listAudit({ action: 'key.delete', limit: 3 })
      expect(entries.map(({ subject }) => subject).toSorted()).toEqual([lent.id, fromLent.id, below.id].toSorted())
      expect(entries.map(({ data }) => [data['username'], data['name']]).toSorted()).toEqual(
        [['chief', 'lent'], ...[fromLent, below].map(({ name }) => ['alice', name])].toSorted(),
      )

      await test.admin.api.updateUser({ username: 'chief', role: 'user' })
      await chief.api.deleteApiKey({ id: kept.id, withMade: true })
      expect((await test.apiWithKey(fromKept.key).getMe()).username).toBe('alice')
    })

    it('however long the chain of keys is', async () => {
      const user = await test.makeUser()
      const root = await user.api.createApiKey({ name: 'root' })
      let last = root
      for (let i = 0; i < 12; i++) last = await test.apiWithKey(last.key).createApiKey({ name: `${i}` })
      await user.api.deleteApiKey({ id: root.id, withMade: true })
      expect((await user.api.listApiKeys()).total).toBe(1)
    })

    it('even if it is created during the revocation', async () => {
      const user = await test.makeUser()
      for (let round = 0; round < 4; round++) {
        const root = await user.api.createApiKey({ name: 'root' })
        const maker = test.apiWithKey(root.key)
        const making = Array.from({ length: 5 }, (_, i) => maker.createApiKey({ name: `${i}` }))
        const revoking = user.api.deleteApiKey({ id: root.id, withMade: true })
        await Promise.allSettled([...making.slice(0, 3), revoking, ...making.slice(3)])
        expect((await user.api.listApiKeys()).total).toBe(1)
      }
    })
  })
})

/** How a link of a chain is made by the one before it. */
const waysToMake = ['key', 'session and key', 'issued', 'user'] as const
const Chain = fc.array(
  fc.record({
    way: fc.constantFrom(...waysToMake),
    expiresInDays: fc.option(fc.integer({ min: 1, max: 3650 }), { nil: undefined }),
    /** By how much the clock moves before, also back. */
    clockMs: fc.integer({ min: -dayMs, max: 3 * dayMs }),
  }),
  { minLength: 2, maxLength: 7 },
)

describeDatabases('a chain of keys', (open) => {
  it('has no key that ends after the key that created it', async () => {
    const test = await open()
    let users = 0
    await fc.assert(
      fc.asyncProperty(Chain, async (chain) => {
        let [key, endsAt]: [string, number] = [test.admin.key, Infinity]
        for (const { way, expiresInDays, clockMs } of chain) {
          test.clock.advance(clockMs)
          const isEnded = endsAt <= test.clock.now()
          expect(await isValid(test, key)).toBe(!isEnded)
          if (isEnded) return
          const api = way === 'key' ? test.apiWithKey(key) : await inSession(key, endsAt)
          const made = await make(api, way, expiresInDays)
          const requested = expiresInDays === undefined ? Infinity : test.clock.now() + expiresInDays * dayMs
          expect(made.endsAt).toBe(Math.min(endsAt, way === 'user' ? Infinity : requested))
          ;({ key, endsAt } = made)
        }
      }),
      { numRuns: 25, seed: 1 },
    )
    const rows = await partsOf(test.registry)
      .database.read.selectFrom('api_keys as made')
      .innerJoin('api_keys as maker', 'maker.id', 'made.made_by')
      .select(['made.expires_at', 'maker.expires_at as maker_expires_at'])
      .execute()
    expect(rows.length).toBeGreaterThan(25)
    for (const row of rows) expect(row.expires_at ?? Infinity).toBeLessThanOrEqual(row.maker_expires_at ?? Infinity)

    async function inSession(key: string, endsAt: number) {
      const session = await openSession(test, key)
      expect(toMs(session.expiresAt)).toBeLessThanOrEqual(endsAt)
      return session.api
    }

    async function make(api: RegistryApi, way: (typeof waysToMake)[number], expiresInDays: number | undefined) {
      if (way === 'user') {
        const { key, keyExpiresAt } = await api.createUser({ username: `user-${++users}`, role: 'admin' })
        return { key, endsAt: toMs(keyExpiresAt ?? null) }
      }
      const made =
        way === 'issued'
          ? await api.issueKey({ username: (await toNewUser()).username, expiresInDays })
          : await api.createApiKey({ name: 'link', expiresInDays })
      return { key: made.key, endsAt: toMs(made.expiresAt) }
    }

    /** A user of their own for each chain: a user has a hundred keys at most. */
    async function toNewUser() {
      return test.makeUser(`issued-${++users}`, { role: 'admin' })
    }
  })
})
