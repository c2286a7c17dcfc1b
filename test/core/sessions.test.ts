import { createClient } from '@skillstead/client'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi, Scope } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { codeOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { checked } from '../support/ways-in.ts'

const hourMs = 60 * 60 * 1000
const cookieOf = (token: string) => ({ cookie: `skillstead-session=${token}`, 'x-skillstead-session': '1' })

/** Opens a session with a key; returns the token in the cookie. */
async function signIn(test: TestRegistry, key: string): Promise<{ token: string; expiresAt: string }> {
  if (test.transport === 'in-process') {
    const { session, expiresAt } = await test.apiWithKey(key).createSession()
    return { token: session!, expiresAt }
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await test.request('/api/v1/session', { method: 'POST', headers, body: '{}' })
  expect(response.status).toBe(201)
  const [, token] = /^skillstead-session=([^;]+)/.exec(response.headers.get('set-cookie')!)!
  const body = await response.json()
  expect(Object.keys(body)).toEqual(['expiresAt'])
  return { token: token!, expiresAt: body.expiresAt }
}

/** The API for the holder of a session. */
function apiOf(test: TestRegistry, token: string): RegistryApi {
  if (test.transport === 'HTTP') {
    const send = (url: unknown, init?: RequestInit) =>
      test.request(String(url).slice('http://node'.length), {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), ...cookieOf(token) },
      })
    return checked(createClient({ baseUrl: 'http://node', fetch: send as typeof fetch }))
  }
  const call = async (name: keyof RegistryApi, input: never) => {
    const caller = name === 'deleteSession' ? undefined : await test.registry.authenticateSession(token)
    return localApi(test.registry, caller, { sessionToken: token })[name](input)
  }
  return new Proxy({} as RegistryApi, { get: (_, name) => (input: never) => call(name as keyof RegistryApi, input) })
}

function makeKey(user: TestUser, scopes?: Scope[]) {
  return user.api.createApiKey({ name: 'dashboard', scopes })
}

describeApi('a session', (open) => {
  let test: TestRegistry
  let alice: TestUser

  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  const rows = () => partsOf(test.registry).database.read.selectFrom('sessions').selectAll().execute()

  it("has the permissions of its key, as the key's user", async () => {
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    const { token } = await signIn(test, alice.key)
    const mine = apiOf(test, token)
    expect(await mine.getMe()).toEqual(await alice.api.getMe())
    expect(await mine.getSkill({ name: 'alice/secret' })).toMatchObject({ visibility: 'private' })
    expect(await mine.publishSkill({ skillMd: skillMd('by-cookie') })).toMatchObject({
      skill: { fullName: 'alice/by-cookie' },
    })
    const bob = await test.makeUser()
    const other = await signIn(test, bob.key)
    expect(await codeOf(apiOf(test, other.token).getSkill({ name: 'alice/secret' }))).toBe('not_found')
  })

  it('has the current role of its user, but no wider scopes than its key', async () => {
    const user = await test.makeUser()
    const reading = await signIn(test, (await makeKey(user, ['read'])).key)
    const mine = apiOf(test, reading.token)
    expect((await mine.getMe()).username).toBe(user.username)
    expect(await codeOf(mine.publishSkill({ skillMd: skillMd('no') }))).toBe('forbidden')
    expect(await codeOf(mine.listApiKeys())).toBe('forbidden')

    const whole = apiOf(test, (await signIn(test, user.key)).token)
    expect(await codeOf(whole.listUsers())).toBe('forbidden')
    await test.admin.api.updateUser({ username: user.username, role: 'admin', plan: 'team' })
    expect((await whole.listUsers()).total).toBeGreaterThan(0)
    expect((await whole.getMe()).plan).toBe('team')
    await test.admin.api.updateUser({ username: user.username, role: 'user' })
    expect(await codeOf(whole.listUsers())).toBe('forbidden')
  })

  it('ends when it is deleted, while other sessions of the same key continue', async () => {
    const [one, two] = [await signIn(test, alice.key), await signIn(test, alice.key)]
    expect(one.token).not.toBe(two.token)
    await apiOf(test, one.token).deleteSession()
    expect(await codeOf(apiOf(test, one.token).getMe())).toBe('unauthorized')
    expect((await apiOf(test, two.token).getMe()).username).toBe('alice')
    await apiOf(test, one.token).deleteSession()
    await test.api().deleteSession()
    await alice.api.deleteSession()
    expect((await apiOf(test, two.token).getMe()).username).toBe('alice')
    expect((await alice.api.getMe()).username).toBe('alice')
  })

  it('ends when its key is deleted', async () => {
    const user = await test.makeUser()
    const made = await makeKey(user)
    const { token } = await signIn(test, made.key)
    const other = await signIn(test, user.key)
    await user.api.deleteApiKey({ id: made.id })
    expect(await codeOf(apiOf(test, token).getMe())).toBe('unauthorized')
    expect((await apiOf(test, other.token).getMe()).username).toBe(user.username)
    expect((await rows()).filter((row) => row.key_id === made.id)).toEqual([])
  })

  it('can delete its own key, which ends the session', async () => {
    const user = await test.makeUser()
    const { token } = await signIn(test, user.key)
    const mine = apiOf(test, token)
    const { apiKeys } = await mine.listApiKeys()
    await mine.deleteApiKey({ id: apiKeys[0]!.id })
    expect(await codeOf(mine.getMe())).toBe('unauthorized')
    expect(await codeOf(user.api.getMe())).toBe('unauthorized')
  })

  it('is invalid while its user is disabled', async () => {
    const user = await test.makeUser()
    const { token } = await signIn(test, user.key)
    await test.admin.api.updateUser({ username: user.username, disabled: true })
    expect(await codeOf(apiOf(test, token).getMe())).toBe('unauthorized')
    expect(await codeOf(apiOf(test, token).createApiKey({ name: 'x' }))).toBe('unauthorized')
  })

  it('requires a key: not a guest, another session or an in-process caller', async () => {
    expect(await codeOf(test.api().createSession())).toBe('unauthorized')
    const { token } = await signIn(test, alice.key)
    const refusal = await refusalOf(apiOf(test, token).createSession())
    expect(refusal.code).toBe('forbidden')
    expect(refusal.message).toMatch(/key/)
    for (const caller of [systemCaller, await test.registry.getCaller('alice')]) {
      expect(await codeOf(localApi(test.registry, caller).createSession())).toBe('forbidden')
    }
  })

  it('is not created with a key that is deleted during the request', async () => {
    const user = await test.makeUser()
    const made = await makeKey(user)
    const caller = await test.registry.authenticate(made.key)
    await user.api.deleteApiKey({ id: made.id })
    expect(await codeOf(localApi(test.registry, caller).createSession())).toBe('unauthorized')
    const shutOut = await test.registry.authenticate(user.key)
    await test.admin.api.updateUser({ username: user.username, disabled: true })
    expect(await codeOf(localApi(test.registry, shutOut).createSession())).toBe('unauthorized')
    expect((await rows()).map((row) => row.key_id)).not.toContain(caller.keyId)
  })

  it('is stored without its token', async () => {
    const { token } = await signIn(test, alice.key)
    expect(token).toMatch(/^sss_[\w-]{43}$/)
    const stored = JSON.stringify(await rows())
    expect(stored).not.toContain(token)
    expect(stored).not.toContain(token.slice(4, 20))
    for (const { id } of await rows()) expect(await codeOf(apiOf(test, id).getMe())).toBe('unauthorized')
    for (const wrong of [alice.key, `${token}x`, token.slice(0, -1), 'sss_']) {
      expect(await codeOf(apiOf(test, wrong).getMe()), wrong).toBe('unauthorized')
    }
    expect(await codeOf(test.apiWithKey(token).getMe())).toBe('unauthorized')
  })

  it('is replaced by a new one when its user has a hundred', async () => {
    const user = await test.makeUser()
    const first = await signIn(test, user.key)
    test.clock.advance(1000)
    const second = await signIn(test, user.key)
    test.clock.advance(1000)
    for (let index = 0; index < 98; index++) await signIn(test, user.key)
    expect((await apiOf(test, first.token).getMe()).username).toBe(user.username)
    await signIn(test, user.key)
    expect(await codeOf(apiOf(test, first.token).getMe())).toBe('unauthorized')
    expect((await apiOf(test, second.token).getMe()).username).toBe(user.username)
  })
})

describeApi('the end of a session', (open) => {
  it('is after twelve hours, and its row is deleted', async () => {
    const test = await open()
    const rows = () => partsOf(test.registry).database.read.selectFrom('sessions').selectAll().execute()
    const { token, expiresAt } = await signIn(test, test.admin.key)
    expect(Date.parse(expiresAt)).toBe(test.clock.now() + 12 * hourMs)
    for (let hours = 3; hours <= 9; hours += 3) {
      test.clock.advance(3 * hourMs)
      expect((await apiOf(test, token).getMe()).username).toBe('root')
      await expect.poll(async () => (await rows())[0]!.used_at).toBe(test.clock.now())
    }
    test.clock.advance(3 * hourMs - 1)
    expect((await apiOf(test, token).getMe()).username).toBe('root')
    test.clock.advance(1)
    expect(await codeOf(apiOf(test, token).getMe())).toBe('unauthorized')
    expect((await test.admin.api.getMe()).username).toBe('root')
    test.clock.advance(24 * hourMs)
    const later = await signIn(test, test.admin.key)
    await expect.poll(rows).toHaveLength(1)
    expect((await apiOf(test, later.token).getMe()).username).toBe('root')
  })

  it('is after four hours without use, while a session that is used continues', async () => {
    const test = await open()
    const [unused, used] = [await signIn(test, test.admin.key), await signIn(test, test.admin.key)]
    test.clock.advance(2 * hourMs)
    expect((await apiOf(test, used.token).getMe()).username).toBe('root')
    const { sessions } = await apiOf(test, used.token).listSessions()
    expect(sessions.map(({ current, openedBy }) => [current, openedBy]).toSorted()).toEqual([
      [false, 'first key'],
      [true, 'first key'],
    ])
    // A use is stored after its response.
    const readUses = async () => {
      const rows = await partsOf(test.registry).database.read.selectFrom('sessions').select('used_at').execute()
      return rows.map(({ used_at }) => used_at)
    }
    await expect.poll(readUses).toContain(test.clock.now())
    test.clock.advance(2 * hourMs)
    expect(await codeOf(apiOf(test, unused.token).getMe())).toBe('unauthorized')
    expect((await apiOf(test, used.token).getMe()).username).toBe('root')
    expect((await apiOf(test, used.token).listSessions()).sessions).toHaveLength(1)
  })

  it('is at once when its user or an administrator ends it, and never by another user', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    const [one, two] = [await signIn(test, alice.key), await signIn(test, alice.key)]
    const { sessions } = await apiOf(test, one.token).listSessions()
    const other = sessions.find(({ current }) => !current)!
    expect(await codeOf(bob.api.endSession({ id: other.id }))).toBe('not_found')
    expect(await codeOf(bob.api.listSessions({ username: 'alice' }))).toBe('forbidden')
    expect(await codeOf(bob.api.listApiKeys({ username: 'alice' }))).toBe('forbidden')
    await apiOf(test, one.token).endSession({ id: other.id })
    expect(await codeOf(apiOf(test, two.token).getMe())).toBe('unauthorized')
    expect(await codeOf(alice.api.endSession({ id: other.id }))).toBe('not_found')
    const left = await test.admin.api.listSessions({ username: 'alice' })
    expect(left.sessions.map(({ current }) => current)).toEqual([false])
    expect(JSON.stringify(left)).not.toContain(one.token.slice(4))
    await test.admin.api.endSession({ id: left.sessions[0]!.id })
    expect(await codeOf(apiOf(test, one.token).getMe())).toBe('unauthorized')
    const { entries } = await test.admin.api.listAudit({ action: 'session.end' })
    expect(entries.map(({ actor, subject }) => [actor, subject])).toEqual([
      ['root', 'alice'],
      ['alice', 'alice'],
    ])
    const [key] = (await test.admin.api.listApiKeys({ username: 'alice' })).apiKeys
    await test.admin.api.deleteApiKey({ id: key!.id })
    expect(await codeOf(alice.api.getMe())).toBe('unauthorized')
  })

  it("is never later than the key's expiry", async () => {
    const test = await open()
    const made = await test.admin.api.createApiKey({ name: 'for a day', expiresInDays: 1 })
    test.clock.advance(20 * hourMs)
    const { token, expiresAt } = await signIn(test, made.key)
    expect(expiresAt).toBe(made.expiresAt)
    test.clock.advance(2 * hourMs)
    expect((await apiOf(test, token).getMe()).username).toBe('root')
    test.clock.advance(2 * hourMs - 1)
    expect((await apiOf(test, token).getMe()).username).toBe('root')
    test.clock.advance(1)
    expect(await codeOf(apiOf(test, token).getMe())).toBe('unauthorized')
  })
})
