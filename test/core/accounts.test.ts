import { beforeAll, describe, expect, it } from 'vitest'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { bytesOf, codeOf, fieldsOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, startMs, type TestRegistry, type TestUser } from '../support/harness.ts'

const dayMs = 86_400_000

describeApi('accounts', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  const keyOf = async (...scopes: ('read' | 'publish' | 'manage')[]) =>
    test.apiWithKey((await alice.api.createApiKey({ name: scopes.join(), scopes })).key)

  describe('a key', () => {
    it('is shown only in the response that creates it', async () => {
      const made = await alice.api.createApiKey({ name: 'laptop' })
      expect(made).toMatchObject({
        name: 'laptop',
        scopes: ['read', 'publish', 'manage'],
        lastUsedAt: null,
        expiresAt: null,
      })
      expect(made.key).toMatch(/^ssk_[0-9A-Za-z]{38}$/)
      expect(made.key.startsWith(made.prefix)).toBe(true)
      const { apiKeys, ...page } = await alice.api.listApiKeys()
      expect(page).toEqual({ total: 2, page: 1, totalPages: 1 })
      expect(apiKeys.map(({ name }) => name)).toEqual(['laptop', 'first key'])
      const { key, ...shown } = made
      expect(apiKeys[0]).toEqual({ ...shown, made: 0 })
      expect(JSON.stringify(await test.admin.api.listAudit({ limit: 100 }))).not.toContain(key)
      expect((await test.apiWithKey(key).getMe()).username).toBe('alice')
    })

    it('is stored only as a hash', async () => {
      const rows = await partsOf(test.registry).database.read.selectFrom('api_keys').selectAll().execute()
      expect(rows.length).toBeGreaterThan(2)
      for (const row of rows) {
        expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
        expect(row.prefix).toHaveLength(8)
      }
      expect(JSON.stringify(rows)).not.toContain(alice.key)
    })

    it('stops working at once when it is deleted', async () => {
      const { id, key } = await alice.api.createApiKey({ name: 'lost' })
      const lost = test.apiWithKey(key)
      await lost.getMe()
      expect(await test.statusOf(alice, 'deleteApiKey', { id })).toBe(204)
      expect(await codeOf(lost.getMe())).toBe('unauthorized')
      expect(await codeOf(lost.searchSkills()), 'on public endpoints too').toBe('unauthorized')
      expect(await codeOf(alice.api.deleteApiKey({ id }))).toBe('not_found')
    })

    it('of another user cannot be seen or deleted, except by administrators', async () => {
      const { id } = await alice.api.createApiKey({ name: 'hers' })
      expect(await codeOf(bob.api.deleteApiKey({ id }))).toBe('not_found')
      expect(JSON.stringify(await bob.api.listApiKeys())).not.toContain(id)
      expect((await alice.api.listApiKeys()).apiKeys.map((key) => key.id)).toContain(id)
      expect(await codeOf(bob.api.listApiKeys({ username: 'alice' }))).toBe('forbidden')
      const { apiKeys } = await test.admin.api.listApiKeys({ username: 'alice' })
      expect(apiKeys.map((key) => key.id)).toContain(id)
      expect(JSON.stringify(await test.admin.api.listApiKeys())).not.toContain(id)
      expect(await test.statusOf(test.admin, 'deleteApiKey', { id })).toBe(204)
      expect((await alice.api.listApiKeys()).apiKeys.map((key) => key.id)).not.toContain(id)
    })

    it('stops working when its expiry time is reached', async () => {
      const { key, expiresAt } = await alice.api.createApiKey({ name: 'short', expiresInDays: 2 })
      expect(expiresAt).toBe('2026-01-04T12:00:00.000Z')
      const api = test.apiWithKey(key)
      test.clock.set(startMs + 2 * dayMs - 1)
      await api.getMe()
      test.clock.set(startMs + 2 * dayMs)
      expect(await codeOf(api.getMe())).toBe('unauthorized')
      test.clock.set(startMs)
    })

    it('shows when it was last used, to the minute', async () => {
      const { id, key } = await alice.api.createApiKey({ name: 'used' })
      await test.apiWithKey(key).getMe()
      await expect
        .poll(async () => (await alice.api.listApiKeys()).apiKeys.find((row) => row.id === id)!.lastUsedAt)
        .toBe('2026-01-02T12:00:00.000Z')
    })

    it.each(['', 'ssk_', 'ssk_short', `ssk_${'A'.repeat(38)}`, 'Bearer x', '\u{1F600}'])(
      'is refused with the error `unauthorized` if it is malformed: %j',
      async (key) => {
        const refused = await refusalOf(test.apiWithKey(key || 'x').getMe())
        expect(refused.code).toBe(key === '\u{1F600}' && test.transport === 'HTTP' ? refused.code : 'unauthorized')
      },
    )

    it('is refused with one wrong letter', async () => {
      const wrong = alice.key.slice(0, -1) + (alice.key.endsWith('A') ? 'B' : 'A')
      expect(await codeOf(test.apiWithKey(wrong).getMe())).toBe('unauthorized')
    })

    it('allows only the actions of its scopes, and cannot create a key with other scopes', async () => {
      const [reader, publisher, manager] = [await keyOf('read'), await keyOf('read', 'publish'), await keyOf('manage')]
      expect((await reader.getMe()).username).toBe('alice')
      expect(await codeOf(reader.publishSkill({ skillMd: skillMd('scoped') }))).toBe('forbidden')
      await publisher.publishSkill({ skillMd: skillMd('scoped') })
      for (const api of [reader, publisher]) {
        expect(await codeOf(api.createApiKey({ name: 'more' }))).toBe('forbidden')
        expect(await codeOf(api.listApiKeys())).toBe('forbidden')
        expect(await codeOf(api.deleteSkill({ name: 'scoped' }))).toBe('forbidden')
        expect(await codeOf(api.updateMe({ displayName: 'X' }))).toBe('forbidden')
      }
      expect(await codeOf(manager.createApiKey({ name: 'wider', scopes: ['publish'] }))).toBe('forbidden')
      expect((await manager.createApiKey({ name: 'as wide' })).scopes).toEqual(['manage'])
      expect(await codeOf(manager.publishSkill({ skillMd: skillMd('scoped-too') }))).toBe('forbidden')
    })

    it.each([
      ['name', { name: '' }],
      ['name', {}],
      ['name', { name: 'a\0' }],
      ['expiresInDays', { name: 'x', expiresInDays: 0 }],
      ['expiresInDays', { name: 'x', expiresInDays: 99_999 }],
      ['scopes', { name: 'x', scopes: [] }],
      ['scopes.0', { name: 'x', scopes: ['root'] }],
      ['key', { name: 'x', key: 'ssk_mine' }],
    ])('is not created with an invalid %s', async (field, input) => {
      expect(await fieldsOf(alice.api.createApiKey(input as never))).toEqual([field])
    })

    it('is required for the caller’s own data: guests get the error `unauthorized`', async () => {
      for (const call of [test.api().getMe(), test.api().listApiKeys(), test.api().createApiKey({ name: 'x' })]) {
        expect(await codeOf(call)).toBe('unauthorized')
      }
    })

    it('cannot be created if its owner already has a hundred keys', async () => {
      const many = await test.makeUser('many')
      await Promise.all(Array.from({ length: 99 }, (_, i) => many.api.createApiKey({ name: `${i}` })))
      expect(await codeOf(many.api.createApiKey({ name: 'one more' }))).toBe('conflict')
      expect(await many.api.listApiKeys({ limit: 40, page: 3 })).toMatchObject({ total: 100, page: 3, totalPages: 3 })
    })
  })

  describe('a user', () => {
    it('can read their own profile with its counts', async () => {
      const user = await test.makeUser('counted', { plan: 'pro' })
      await user.api.publishSkill({ skillMd: skillMd('counted-a') })
      await user.api.publishSkill({ skillMd: skillMd('counted-b'), visibility: 'private' })
      await user.api.createPack({ name: 'Counted', description: '', skills: [], visibility: 'private' })
      await user.api.followUser({ username: 'alice' })
      const me = await user.api.getMe()
      expect(me).toMatchObject({
        username: 'counted',
        displayName: 'counted',
        plan: 'pro',
        role: 'user',
        verified: [],
        counts: {
          skills: 2,
          packs: 1,
          webhooks: 0,
          followers: 0,
          following: 1,
        },
      })
      const profile = await test.api().getUser({ username: 'counted' })
      expect(profile.counts).toEqual({ skills: 1, packs: 0, followers: 0, following: 1 })
      expect(profile.skills.map(({ fullName }) => fullName)).toEqual(['counted/counted-a'])
      expect(profile).toMatchObject({ total: 1, page: 1, totalPages: 1 })
      for (const field of ['plan', 'role', 'email', 'disabled', 'apiKeys']) expect(profile).not.toHaveProperty(field)
      expect(await codeOf(test.api().getUser({ username: 'unknown-user' }))).toBe('not_found')
    })

    it('can change their own display name', async () => {
      expect((await alice.api.updateMe({ displayName: 'Alice L.' })).displayName).toBe('Alice L.')
      expect((await test.api().getUser({ username: 'alice' })).displayName).toBe('Alice L.')
      expect(await fieldsOf(alice.api.updateMe({ plan: 'enterprise' } as never))).toEqual(['plan'])
      expect(await fieldsOf(alice.api.updateMe({ role: 'admin' } as never))).toEqual(['role'])
    })

    it('has a generated picture, or an uploaded image whose bytes match the declared type', async () => {
      const drawn = await test.api().getAvatar({ username: 'bob' })
      expect(drawn.contentType).toMatch(/^image\/svg\+xml/)
      expect(await textOf(drawn)).toMatch(/^<svg/)
      const png = Buffer.from('89504e470d0a1a0a00000000', 'hex')
      const avatar = { contentType: 'image/png' as const, content: png.toString('base64') }
      await bob.api.updateMe({ avatar })
      const shown = await test.api().getAvatar({ username: 'bob' })
      expect({ type: shown.contentType, bytes: await bytesOf(shown) }).toEqual({ type: 'image/png', bytes: png })
      const html = Buffer.from('<script>alert(1)</script>').toString('base64')
      expect(await fieldsOf(bob.api.updateMe({ avatar: { ...avatar, content: html } }))).toEqual(['avatar'])
      await bob.api.updateMe({ avatar: null })
      expect(await textOf(await test.api().getAvatar({ username: 'bob' }))).toMatch(/^<svg/)
    })

    it('can follow another user only once, and cannot follow themselves', async () => {
      expect(await bob.api.followUser({ username: 'alice' })).toMatchObject({ following: true })
      const { followers } = await bob.api.followUser({ username: 'alice' })
      expect((await test.api().getUser({ username: 'alice' })).counts.followers).toBe(followers)
      expect(await bob.api.unfollowUser({ username: 'alice' })).toEqual({ following: false, followers: followers - 1 })
      expect(await bob.api.unfollowUser({ username: 'alice' })).toEqual({ following: false, followers: followers - 1 })
      expect(await codeOf(bob.api.followUser({ username: 'bob' }))).toBe('conflict')
      expect(await codeOf(bob.api.followUser({ username: 'unknown-user' }))).toBe('not_found')
      expect(await codeOf(test.api().followUser({ username: 'bob' }))).toBe('unauthorized')
    })

    it('cannot use webhooks on a plan that does not include webhooks', async () => {
      const [free, pro] = [await test.makeUser('free'), await test.makeUser('paying', { plan: 'pro' })]
      expect((await free.api.getMe()).plan).toBe('free')
      expect(await refusalOf(free.api.listWebhooks())).toMatchObject({
        code: 'plan_required',
        message:
          'Your plan (free) does not include webhooks; an administrator can change it with `skillstead users set-plan`, ' +
          'and the operator sets the plan of new users with `--default-plan`.',
      })
      expect(await pro.api.listWebhooks()).toMatchObject({ webhooks: [] })
    })
  })

  describe('administrators', () => {
    it('are the only users who can create users and list users and the audit log', async () => {
      const calls = [
        (user: TestUser) => user.api.listUsers(),
        (user: TestUser) => user.api.createUser({ username: 'sneaky' }),
        (user: TestUser) => user.api.updateUser({ username: 'alice', role: 'admin' }),
        (user: TestUser) => user.api.listAudit(),
      ]
      for (const call of calls) expect(await codeOf(call(alice))).toBe('forbidden')
      expect(await codeOf(test.api().listUsers())).toBe('unauthorized')
      expect(await codeOf(test.api().getUser({ username: 'sneaky' }))).toBe('not_found')
    })

    it('create users with a first key, but not under a name that is taken', async () => {
      const { key, ...user } = await test.admin.api.createUser({ username: 'made', plan: 'team' })
      expect(user).toMatchObject({ username: 'made', plan: 'team', role: 'user', disabled: false, claimed: true })
      expect((await test.apiWithKey(key).getMe()).username).toBe('made')
      expect(await codeOf(test.admin.api.createUser({ username: 'made' }))).toBe('name_taken')
      for (const username of ['skills', 'api', 'me', 'admin']) {
        expect(await codeOf(test.admin.api.createUser({ username })), 'the node’s own addresses').toBe('name_taken')
      }
      for (const username of ['Made', 'ma de', 'm\u00e4de', 'a'.repeat(40), '', '-a', 'a--b']) {
        expect(await fieldsOf(test.admin.api.createUser({ username }))).toContain('username')
      }
    })

    it('issue a key for a user without revoking the user’s other keys', async () => {
      const user = await test.makeUser('locked-out')
      const issued = await test.admin.api.issueKey({ username: 'locked-out', expiresInDays: 1 })
      expect(issued).toMatchObject({ name: 'issued by an administrator', scopes: ['read', 'publish', 'manage'] })
      expect(issued.expiresAt).toBe(new Date(test.clock.now() + dayMs).toISOString())
      expect((await test.apiWithKey(issued.key).getMe()).username).toBe('locked-out')
      expect((await user.api.listApiKeys()).apiKeys.map(({ name }) => name)).toContain('issued by an administrator')
      const [entry] = (await test.admin.api.listAudit({ action: 'key.issue', limit: 1 })).entries
      expect(entry).toMatchObject({ actor: 'root', subject: 'locked-out', data: { id: issued.id, name: issued.name } })
      expect(JSON.stringify(entry)).not.toContain(issued.key)
      expect(await test.statusOf(test.admin, 'issueKey', { username: 'locked-out', name: 'phone' })).toBe(201)
    })

    it('issue no key to a user who cannot sign in, nor with scopes that the issuing key lacks', async () => {
      const issue = test.admin.api.issueKey
      await test.makeUser('gone')
      await test.admin.api.updateUser({ username: 'gone', disabled: true })
      expect(await refusalOf(issue({ username: 'gone' }))).toMatchObject({ code: 'conflict' })
      expect(await codeOf(issue({ username: 'never-seen' }))).toBe('not_found')
      expect(await fieldsOf(issue({ username: 'gone', scopes: [] }))).toEqual(['scopes'])
      const { key } = await test.admin.api.createApiKey({ name: 'narrow', scopes: ['manage'] })
      const narrow = test.apiWithKey(key)
      expect(await codeOf(narrow.issueKey({ username: 'alice' }))).toBe('forbidden')
      expect((await narrow.issueKey({ username: 'alice', scopes: ['manage'] })).scopes).toEqual(['manage'])
      expect(await codeOf(alice.api.issueKey({ username: 'root' }))).toBe('forbidden')
      expect(await codeOf(alice.api.issueKey({ username: 'alice' }))).toBe('forbidden')
      expect(await codeOf(test.api().issueKey({ username: 'alice' }))).toBe('unauthorized')
    })

    it('find users by the beginning of their names', async () => {
      for (const username of ['zora', 'zoe', 'zoe-b', 'zoea']) await test.makeUser(username)
      const { users, total } = await test.admin.api.listUsers({ q: 'zo' })
      expect({ names: users.map(({ username }) => username), total }).toEqual({
        names: ['zoe', 'zoe-b', 'zoea', 'zora'],
        total: 4,
      })
      expect(JSON.stringify(users)).not.toContain('ssk_')
    })

    it('can disable a user with immediate effect, and enable the user again', async () => {
      const user = await test.makeUser('shut')
      await test.admin.api.updateUser({ username: 'shut', disabled: true })
      expect(await codeOf(user.api.getMe())).toBe('unauthorized')
      await test.admin.api.updateUser({ username: 'shut', disabled: false, plan: 'pro' })
      expect((await user.api.getMe()).plan).toBe('pro')
    })

    it('read the audit log, newest first, without secrets', async () => {
      const { entries } = await test.admin.api.listAudit({ action: 'user.create', limit: 2 })
      expect(entries).toHaveLength(2)
      expect(entries.every(({ action }) => action === 'user.create')).toBe(true)
      await alice.api.publishSkill({ skillMd: skillMd('audited') })
      const [latest] = (await test.admin.api.listAudit({ actor: 'alice', action: 'skill.publish', limit: 1 })).entries
      expect(latest).toMatchObject({ actor: 'alice', action: 'skill.publish', subject: 'alice/audited@1.0.0' })
      expect(JSON.stringify(await test.admin.api.listAudit({ limit: 100 }))).not.toMatch(/ssk_\w{8}/)
    })
  })

  it('only the first user of a node gets the administrator role and the enterprise plan', async () => {
    const fresh = await open({ empty: true })
    const first = await fresh.makeUser('first')
    const second = await fresh.makeUser('second')
    expect(await first.api.getMe()).toMatchObject({ role: 'admin', plan: 'enterprise' })
    expect(await second.api.getMe()).toMatchObject({ role: 'user', plan: 'free' })
  })

  it('new users get the operator’s default plan unless the administrator who creates them chooses another', async () => {
    const fresh = await open({ defaultPlan: 'team' })
    expect((await fresh.admin.api.createUser({ username: 'usual' })).plan).toBe('team')
    expect((await fresh.admin.api.createUser({ username: 'chosen', plan: 'free' })).plan).toBe('free')
  })

  it('two concurrent changes of the same user are both applied', async () => {
    const fresh = await open()
    // Without a transport the calls begin at the same moment.
    const { createUser, updateUser, listUsers } = localApi(fresh.registry, systemCaller)
    await createUser({ username: 'leaver' })
    await Promise.all([
      updateUser({ username: 'leaver', disabled: true }),
      updateUser({ username: 'leaver', plan: 'pro' }),
      updateUser({ username: 'leaver', role: 'admin' }),
    ])
    const { users } = await listUsers({})
    const leaver = users.find(({ username }) => username === 'leaver')
    expect(leaver).toMatchObject({ disabled: true, plan: 'pro', role: 'admin' })
  })

  it('the last administrator cannot lose the administrator role', async () => {
    const fresh = await open()
    const { updateUser } = fresh.admin.api
    await localApi(fresh.registry, systemCaller).createUser({ username: 'next' })
    for (const change of [{ role: 'user' }, { disabled: true }] as const) {
      expect(await codeOf(updateUser({ username: 'root', ...change }))).toBe('conflict')
    }
    await updateUser({ username: 'next', role: 'admin' })
    await updateUser({ username: 'root', role: 'user' })
    expect(await codeOf(updateUser({ username: 'next', role: 'user' })), 'no administrator any more').toBe('forbidden')
  })
})
