import { partsOf, signInIdentity } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { startForger, startWithProvider, type SignInNode } from '../support/identity-node.ts'

const groups = ['admins=administrators', 'eng=acme:publisher', 'leads=acme:owner', 'ml=acme/ml']
const minuteMs = 60_000

const membersOf = async ({ api }: SignInNode, organisation = 'acme') =>
  Object.fromEntries((await api.listMembers({ organisation })).members.map(({ username, role }) => [username, role]))

describe('a sign-in by OpenID Connect', () => {
  it.each([false, true])(
    'creates an account, and opens the page that the user requested (claims only at the userinfo endpoint: %s)',
    async (thinTokens) => {
      const fixture = await startWithProvider({ thinTokens })
      const { last, whoAmI, visited, cookies } = await fixture.as('alice', { name: 'Alice Smith' }, '/packs?q=a')
      expect(last.headers.get('set-cookie')).toBeNull()
      expect(visited.at(-1)).toBe(`${fixture.node.url}/packs?q=a`)
      expect([...cookies().keys()]).toEqual(['skillstead-session'])
      expect(await whoAmI()).toBe('alice')
      expect(await fixture.api.getUser({ username: 'alice' })).toMatchObject({ displayName: 'Alice Smith' })
      const { entries } = await fixture.api.listAudit()
      expect(entries.map(({ action }) => action).slice(0, 2)).toEqual(['identity.sign-in', 'user.create'])
      const { sessions } = await fixture.api.listSessions({ username: 'alice' })
      expect(sessions).toMatchObject([{ openedBy: expect.stringContaining('http://127.0.0.1:'), current: false }])
      expect(fixture.errors).toEqual([])
    },
  )

  it('is possible on a private node', async () => {
    const { as, openBrowser } = await startWithProvider({ listening: { requireKey: true } })
    expect(await openBrowser().whoAmI()).toBe(401)
    expect(await (await as('alice')).whoAmI()).toBe('alice')
  })

  it('asks the provider with PKCE, and with a new state and nonce each time', async () => {
    const { openBrowser, as } = await startWithProvider()
    await as('alice')
    const values = await Promise.all(
      [1, 2].map(async () => {
        const response = await openBrowser().open('/login')
        expect(response.headers.get('set-cookie')).toMatch(
          /^skillstead-sign-in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
        )
        const { searchParams } = new URL(response.headers.get('location')!)
        expect(Object.fromEntries(searchParams)).toMatchObject({ code_challenge_method: 'S256', response_type: 'code' })
        return ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name)!)
      }),
    )
    for (const value of values.flat()) expect(value.length).toBeGreaterThan(40)
    expect(new Set(values.flat()).size).toBe(6)
  })

  it('never takes over a username that already exists on the node', async () => {
    const fixture = await startWithProvider()
    await fixture.api.createUser({ username: 'alice' })
    await fixture.api.createOrganisation({ name: 'acme' })
    const names = []
    for (const [subject, name] of Object.entries({
      one: 'alice',
      two: 'Alice@corp.example',
      three: 'acme',
      four: 'root',
      five: 'setup',
      six: 'Zoë Müller',
      seven: '管理者',
      eight: 'login',
      nine: `${'x'.repeat(38)}-y`,
    }))
      names.push(await (await fixture.as(subject, { preferred_username: name })).whoAmI())
    const given = 'alice-2 alice-3 acme-2 root-2 setup-2 zoe-muller user login-2'.split(' ')
    expect(names).toEqual([...given, 'x'.repeat(38)])
    const { entries } = await fixture.api.listAudit({ action: 'user.create' })
    expect(entries.find(({ subject }) => subject === 'alice-2')!.data).toMatchObject({ name: 'alice', subject: 'one' })
  })

  it('finds a user by issuer and subject, so that a rename at the provider changes only the display name', async () => {
    const fixture = await startWithProvider()
    await fixture.as('s-1', { preferred_username: 'alice', name: 'Alice' })
    await fixture.as('s-2', { preferred_username: 'bob', name: 'Bob' })
    const renamed = await fixture.as('s-1', { preferred_username: 'bob', name: 'Bob\u202e the second' })
    expect(await renamed.whoAmI()).toBe('alice')
    expect((await fixture.api.getUser({ username: 'alice' })).displayName).toBe('Bob the second')
    const { users } = await fixture.api.listUsers({ q: '' })
    expect(users.map(({ username }) => username)).toEqual(['alice', 'bob', 'root'])
  })

  it('does not sign in a disabled user, whose open sessions ended at once', async () => {
    const fixture = await startWithProvider()
    const { whoAmI } = await fixture.as('alice')
    await fixture.api.updateUser({ username: 'alice', disabled: true })
    expect(await whoAmI()).toBe(401)
    const { last } = await fixture.as('alice')
    expect([last.status, await last.text()]).toEqual([403, expect.stringContaining('alice is disabled')])
    await fixture.api.updateUser({ username: 'alice', disabled: false })
    expect(await (await fixture.as('alice')).whoAmI()).toBe('alice')
  })

  it('opens a session with the rights of its user, which can create API keys but no further sessions', async () => {
    const { as, registry } = await startWithProvider()
    const { call } = await as('alice')
    const post = (path: string, body: object) =>
      call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const made = await post('/api/v1/api-keys', { name: 'laptop' })
    expect(made.status).toBe(201)
    const { key, expiresAt } = (await made.json()) as { key: string; expiresAt: string | null }
    expect([(await registry.authenticate(key)).username, expiresAt]).toEqual(['alice', null])
    expect((await post('/api/v1/session', {})).status).toBe(403)
    expect((await call('/api/v1/users')).status).toBe(403)
  })
})

describe('the groups of a provider', () => {
  it('give roles, teams and administrator rights, and remove only rights that the groups gave', async () => {
    const fixture = await startWithProvider({ groups })
    await fixture.as('boss', { groups: ['leads', 'admins', 'unknown'] })
    const { call } = await fixture.as('alice', { groups: ['eng', 'ml'] })
    expect(await membersOf(fixture)).toEqual({ alice: 'publisher', boss: 'owner' })
    const teams = async () => (await fixture.api.listTeams({ organisation: 'acme' })).teams
    expect(await teams()).toMatchObject([{ name: 'ml', members: ['alice'] }])
    expect((await fixture.api.getOrganisation({ organisation: 'acme' })).counts.members).toBe(2)
    expect((await call('/api/v1/organisations')).status).toBe(200)
    const roleOf = async (name: string) =>
      (await fixture.api.listUsers({ q: name })).users.map(({ role }) => role).join()
    expect([await roleOf('boss'), await roleOf('alice')]).toEqual(['admin', 'user'])

    await fixture.api.createUser({ username: 'carol' })
    await fixture.as('dan', { groups: [] })
    await fixture.api.updateUser({ username: 'dan', role: 'admin' })
    await fixture.api.putTeam({ organisation: 'acme', team: 'ml', members: ['alice', 'boss'] })
    await fixture.as('alice', { groups: ['eng'] })
    expect(await teams()).toMatchObject([{ members: ['boss'] }])
    await fixture.as('alice', { groups: [] })
    await fixture.as('boss', { groups: [] })
    await fixture.as('dan', { groups: [] })
    expect(await membersOf(fixture)).toEqual({})
    expect([await roleOf('boss'), await roleOf('dan')]).toEqual(['user', 'admin'])
    expect(await teams()).toMatchObject([{ members: [] }])
  })

  it('leave memberships that the organisation gave unchanged', async () => {
    const fixture = await startWithProvider({ groups })
    const { call } = await fixture.as('alice', { groups: [] })
    await fixture.api.createOrganisation({ name: 'acme' })
    await fixture.api.putMember({ organisation: 'acme', username: 'alice', role: 'admin' })
    expect((await call('/api/v1/organisations/acme/accept', { method: 'POST' })).status).toBeLessThan(300)
    await fixture.as('alice', { groups: ['eng'] })
    await fixture.as('alice', { groups: [] })
    expect(await membersOf(fixture)).toEqual({ alice: 'admin', root: 'owner' })
  })

  it('change nothing while the provider sends no list of groups', async () => {
    const fixture = await startWithProvider({ groups })
    await fixture.as('alice', { groups: ['eng'] })
    await fixture.as('alice')
    expect(await membersOf(fixture)).toEqual({ alice: 'publisher' })
  })

  it('never create an organisation with the name of a user', async () => {
    const fixture = await startWithProvider({ groups: ['eng=root:owner', 'eng=acme:reader'] })
    await fixture.as('alice', { groups: ['eng'] })
    expect(await membersOf(fixture)).toEqual({ alice: 'reader' })
    expect(await codeOf(fixture.api.getOrganisation({ organisation: 'root' }))).toBe('not_found')
    const [entry] = (await fixture.api.listAudit({ action: 'identity.sign-in' })).entries
    expect(entry!.data.skipped).toEqual(['root is the name of a user, of an imported author or of a page'])
  })

  it.each([
    'eng',
    '=acme:owner',
    'eng=acme',
    'eng=Acme:owner',
    'eng=acme:king',
    'eng=acme/',
    'eng=acme/a/b',
    'eng=admin',
  ])('stop the start of the node with the invalid rule %s', async (rule) => {
    await expect(startWithProvider({ groups: [rule] })).rejects.toThrow(/is not a rule for a group/)
  })
})

describe('a session of a provider', () => {
  it('is extended while the provider confirms the account, and applies changed groups of the account', async () => {
    const fixture = await startWithProvider({ groups })
    const { whoAmI } = await fixture.as('alice', { groups: ['eng'] })
    fixture.accounts.set('alice', { preferred_username: 'alice', groups: ['leads'] })
    const rows = () => partsOf(fixture.registry).database.read.selectFrom('sessions').selectAll().execute()
    const [first] = await rows()
    expect(first!.expires_at - fixture.clock.now()).toBe(60 * minuteMs)
    for (let i = 0; i < 3; i++) {
      fixture.clock.advance(11 * minuteMs)
      const expected = fixture.clock.now() + 60 * minuteMs
      await expect.poll(async () => (await rows())[0]!.expires_at, { timeout: 10_000 }).toBe(expected)
      await expect.poll(() => whoAmI()).toBe('alice')
    }
    expect(await membersOf(fixture)).toEqual({ alice: 'owner' })
    expect(JSON.stringify(await rows())).not.toContain('refresh_token":null')
    expect(fixture.errors).toEqual([])
  })

  it('continues for 70 users, more than the node refreshes concurrently', async () => {
    const { registry, issuer, clock, errors } = await startForger()
    const context = partsOf(registry)
    const now = clock.now()
    for (const name of Array.from({ length: 70 }, (_, i) => `user-${i}`)) {
      const identity = { issuer, subject: name, name, displayName: undefined, groups: undefined }
      const refreshToken = context.secrets.seal(`token of ${name}`)
      await signInIdentity(context, identity, [], { state: name, stateEndsAt: now + 10 * minuteMs, refreshToken })
    }
    clock.advance(11 * minuteMs)
    const ends = async () => {
      const rows = await context.database.read.selectFrom('sessions').select('expires_at').execute()
      return rows.filter(({ expires_at: endsAt }) => endsAt === clock.now() + 60 * minuteMs).length
    }
    await expect.poll(ends, { timeout: 20_000 }).toBe(70)
    expect(errors).toEqual([])
  })

  it('ends at the next refresh after the account was deactivated', async () => {
    const fixture = await startWithProvider()
    const { whoAmI } = await fixture.as('alice')
    const other = await fixture.as('bob')
    fixture.accounts.delete('alice')
    expect(await whoAmI()).toBe('alice')
    fixture.clock.advance(11 * minuteMs)
    await expect.poll(() => whoAmI(), { timeout: 10_000 }).toBe(401)
    expect(await other.whoAmI()).toBe('bob')
    const { entries } = await fixture.api.listAudit({ action: 'session.end' })
    expect(entries).toMatchObject([{ subject: 'alice', data: { reason: expect.stringContaining('invalid_grant') } }])
  })

  it('ends at the node and at the provider when the user signs out', async () => {
    const fixture = await startWithProvider()
    const { call, whoAmI, cookies } = await fixture.as('alice')
    const token = cookies().get('skillstead-session')!
    expect((await fixture.openBrowser().call('/logout', { method: 'POST' })).status).toBe(200)
    const foreign = {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example', cookie: `skillstead-session=${token}` },
    }
    expect((await fetch(`${fixture.node.url}/logout`, foreign)).status).toBe(403)
    expect(await whoAmI()).toBe('alice')
    const response = await call('/logout', { method: 'POST' })
    const { location } = (await response.json()) as { location: string }
    expect(new URL(location).pathname).toBe('/session/end')
    expect(new URL(location).searchParams.get('post_logout_redirect_uri')).toBe(`${fixture.node.url}/`)
    expect(cookies().size).toBe(0)
    await expect(fixture.registry.authenticateSession(token)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('is the only kind of session on a node without local sign-in, where API keys still work', async () => {
    const fixture = await startWithProvider({ localSignIn: false })
    const headers = { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' }
    const local = await fetch(`${fixture.node.url}/api/v1/session`, { method: 'POST', headers, body: '{}' })
    expect([local.status, await local.text()]).toEqual([403, expect.stringContaining('identity provider')])
    expect((await fetch(`${fixture.node.url}/api/v1/users/me`, { headers })).status).toBe(200)
    expect(await (await fixture.as('alice')).whoAmI()).toBe('alice')
  })
})
