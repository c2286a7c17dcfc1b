import { localApi } from '@skillstead/core'
import { partsOf, refuseIdentity, signInIdentity, type GroupRule, type Identity } from '@skillstead/core/internal'
import { expect, it } from 'vitest'
import { codeOf, refusalOf } from '../support/answers.ts'
import { countQueries } from '../support/count-queries.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'

const rules: readonly GroupRule[] = [
  { group: 'eng', gives: { organisation: 'acme', role: 'publisher' } },
  { group: 'ml', gives: { organisation: 'acme', team: 'ml' } },
  { group: 'admins', gives: 'administrators' },
]
const minuteMs = 60_000

function signIn(test: TestRegistry, state: string, changes: Partial<Identity> = {}) {
  const identity = { issuer: 'https://login.example', subject: 's-1', name: 'alice', displayName: 'Alice' }
  const session = { state, stateEndsAt: test.clock.now() + 10 * minuteMs, refreshToken: null }
  return signInIdentity(partsOf(test.registry), { ...identity, groups: ['eng'], ...changes }, rules, session)
}

describeDatabases('an account of an identity provider', (open) => {
  it('is created once by concurrent sign-ins, and each sign-in state can be used only once', async () => {
    const test = await open()
    const attempts = await Promise.allSettled(['a', 'b', 'a', 'c', 'b'].map((state) => signIn(test, state)))
    const opened = attempts.filter(({ status }) => status === 'fulfilled')
    expect(opened).toHaveLength(3)
    const refused = attempts.filter((attempt) => attempt.status === 'rejected').map(({ reason }) => String(reason))
    expect(refused).toEqual(Array(2).fill(expect.stringContaining('used before')))
    const { users } = await test.admin.api.listUsers()
    expect(users.map(({ username }) => username)).toEqual(['acme', 'alice', 'root'])
    expect((await test.admin.api.listSessions({ username: 'alice' })).total).toBe(3)
  })

  it('is separate for each issuer, and gets a free name', async () => {
    const test = await open()
    const first = await signIn(test, 'a')
    const second = await signIn(test, 'b', { issuer: 'https://other.example' })
    expect([first.username, second.username]).toEqual(['alice', 'alice-2'])
  })

  it('gets a free name without one query for each name that is taken', async () => {
    const test = await open()
    const signInAs = async (number: number) => {
      const { counted, count } = countQueries(test.registry)
      const { username } = await signIn({ ...test, registry: counted }, `${number}`, {
        subject: `${number}`,
        groups: [],
      })
      return [username, count()] as const
    }
    const second = [await signInAs(1), await signInAs(2)].at(-1)!
    for (let number = 3; number < 25; number++) await test.makeUser(`alice-${number}`)
    const [username, queries] = await signInAs(25)
    expect(username).toBe('alice-25')
    expect(queries - second[1]).toBeLessThanOrEqual(2)
    await test.makeUser(`${'b'.repeat(39)}`)
    const long = await signIn(test, 'long', { subject: 'long', name: 'b'.repeat(60), groups: [] })
    expect(long.username).toBe(`${'b'.repeat(37)}-2`)
  })

  it('has memberships that follow its provider groups until an administrator of the node changes them', async () => {
    const test = await open()
    await test.admin.api.createOrganisation({ name: 'acme' })
    for (const name of ['olga', 'ada']) await test.makeUser(name)
    await test.admin.api.putMember({ organisation: 'acme', username: 'olga', role: 'owner' })
    const olga = test.api('olga')
    await olga.acceptMembership({ organisation: 'acme' })
    const signInWith = (groups: string[]) => signIn(test, `${Math.random()}`, { groups })
    const memberOf = async (username: string) =>
      (await olga.listMembers({ organisation: 'acme' })).members.find((member) => member.username === username)
    await signInWith(['eng', 'ml'])
    const alice = { organisation: 'acme', username: 'alice' } as const
    expect(await memberOf('alice')).toEqual({ username: 'alice', role: 'publisher', status: 'accepted', byGroup: true })
    expect((await memberOf('olga'))!.byGroup).toBeUndefined()
    for (const refused of [
      () => olga.putMember({ ...alice, role: 'admin' }),
      () => olga.deleteMember(alice),
      async () => localApi(test.registry, await test.registry.getCaller('alice')).deleteMember(alice),
      () => olga.putTeam({ organisation: 'acme', team: 'ml', members: [] }),
      () => olga.updateTeam({ organisation: 'acme', team: 'ml', remove: { members: ['alice'] } }),
      () => olga.deleteTeam({ organisation: 'acme', team: 'ml' }),
    ])
      expect(await refusalOf(refused())).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('a group of the identity provider'),
      })
    // What groups do not decide is free.
    await olga.putTeam({ organisation: 'acme', team: 'ml', members: ['alice', 'olga'] })
    await olga.putTeam({ organisation: 'acme', team: 'ml', members: ['alice'] })
    await olga.putTeam({ organisation: 'acme', team: 'own', members: ['alice'] })
    await olga.deleteTeam({ organisation: 'acme', team: 'own' })
    await test.admin.api.deleteTeam({ organisation: 'acme', team: 'ml' })
    // The sign-in was turned off, for example.
    await test.admin.api.putMember({ ...alice, role: 'admin' })
    expect((await memberOf('alice'))!.byGroup).toBeUndefined()
    await signInWith(['eng', 'ml'])
    expect(await memberOf('alice')).toMatchObject({ role: 'admin' })
    await signInWith([])
    expect(await memberOf('alice')).toMatchObject({ role: 'admin' })
    await olga.deleteMember(alice)
    expect(await memberOf('alice')).toBeUndefined()
    await signInWith(['eng'])
    expect(await memberOf('alice')).toMatchObject({ role: 'publisher', byGroup: true })
    await test.admin.api.deleteMember(alice)
    expect(await memberOf('alice')).toBeUndefined()
  })

  it('has the organisation and team memberships of its groups until a sign-in without these groups', async () => {
    const test = await open()
    await signIn(test, 'a', { groups: ['eng', 'ml', 'admins'] })
    const { api } = test.admin
    expect((await api.listTeams({ organisation: 'acme' })).teams).toMatchObject([{ name: 'ml', members: ['alice'] }])
    expect((await api.listUsers({ q: 'alice' })).users[0]!.role).toBe('admin')
    await signIn(test, 'b', { groups: [] })
    expect((await api.listTeams({ organisation: 'acme' })).teams).toMatchObject([{ members: [] }])
    expect((await api.listMembers({ organisation: 'acme' })).members).toEqual([])
    expect((await api.listUsers({ q: 'alice' })).users[0]!.role).toBe('user')
    const { entries } = await api.listAudit({ limit: 100 })
    expect(entries.filter(({ data }) => data.by === 'groups').map(({ action }) => action)).toEqual([
      'organisation.member.delete',
      'user.update',
      'organisation.member.put',
      'organisation.create',
      'user.update',
    ])
  })

  it('has a session that ends an hour after the provider confirmed the sign-in', async () => {
    const test = await open()
    const { token, expiresAt } = await signIn(test, 'a')
    expect(expiresAt).toBe(test.clock.now() + 60 * minuteMs)
    const caller = await test.registry.authenticateSession(token)
    expect(caller).toMatchObject({ username: 'alice', scopes: ['read', 'publish', 'manage'] })
    expect(caller.keyId).toBeUndefined()
    test.clock.advance(60 * minuteMs)
    await expect(test.registry.authenticateSession(token)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('gets no API key if its session ends or the account is disabled during the request', async () => {
    const test = await open()
    const enter = async (state: string) => test.registry.authenticateSession((await signIn(test, state)).token)
    const [ended, other, disabled] = [await enter('a'), await enter('b'), await enter('c')]
    const make = (caller: typeof ended) => localApi(test.registry, caller).createApiKey({ name: 'laptop' })
    await test.admin.api.endSession({ id: ended.sessionId! })
    expect(await codeOf(make(ended))).toBe('unauthorized')
    expect((await make(other)).expiresAt).toBeNull()
    await test.admin.api.updateUser({ username: 'alice', disabled: true })
    expect(await codeOf(make(disabled))).toBe('unauthorized')
    const { apiKeys } = await test.admin.api.listApiKeys({ username: 'alice' })
    expect(apiKeys).toHaveLength(1)
  })

  it('leaves only an audit entry with a shortened reason after a refused sign-in', async () => {
    const test = await open()
    await refuseIdentity(partsOf(test.registry), 'https://login.example', 'x'.repeat(10_000))
    const [entry] = (await test.admin.api.listAudit({ action: 'identity.refuse' })).entries
    expect(entry).toMatchObject({ action: 'identity.refuse', actor: null, subject: 'https://login.example' })
    expect(String(entry!.data.reason)).toHaveLength(500)
  })
})
