import { partsOf } from '@skillstead/core/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import { toOutgoing, type WebhookInput } from '../support/webhook-acts.ts'

const url = 'https://hooks.example.com/a'
const events: WebhookInput['events'] = ['skill.starred', 'user.followed']
const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'

const totalOf = async ({ api }: TestUser) => (await api.listWebhooks({})).total
/** Every call about one webhook. */
const calls = (api: TestUser['api'], id: string) => ({
  getWebhook: () => api.getWebhook({ id }),
  updateWebhook: () => api.updateWebhook({ id, active: false, url: 'https://inner.example.com/' }),
  deleteWebhook: () => api.deleteWebhook({ id }),
  retryDelivery: () => api.retryDelivery({ id, deliveryId: unknownId }),
  pingWebhook: () => api.pingWebhook({ id }),
})
const all = (api: TestUser['api'], id: string) => ({
  ...calls(api, id),
  listWebhooks: () => api.listWebhooks({}),
  createWebhook: () => api.createWebhook({ url, events }),
})
/** The error codes of the calls. */
const codesOf = async (each: Record<string, () => Promise<unknown>>) => {
  const codes = new Set<string>()
  for (const call of Object.values(each)) codes.add(await codeOf(call()))
  return [...codes]
}

/** Not URLs, not https, with credentials, private in any notation, local names, too long. */
const wrongUrls = [
  ['', 'nonsense', '/a', 'http://hooks.example.com/', 'ftp://hooks.example.com/', 'https://'],
  ['https://ann:secret@hooks.example.com/', 'https://ann@hooks.example.com/', 'javascript:alert(1)'],
  ['https://10.0.0.1/', 'https://192.168.1.1/', 'https://172.16.0.1/', 'https://169.254.169.254/latest'],
  ['https://0x0a000001/', 'https://167772161/', 'https://012.0.0.1/', 'https://10.1/', 'https://0/'],
  ['https://[::1]/', 'https://[::ffff:10.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://[fd00::1]/'],
  ['https://localhost/', 'https://a.localhost/', 'https://printer.local/', 'https://inner.example.com/'],
  [`https://hooks.example.com/${'a'.repeat(2000)}`, 'https://hooks.example.com/\0'],
].flat()

describeApi('webhooks', (open, { transport }) => {
  let outside: Outside
  let test: TestRegistry
  let alice: TestUser
  let users = 0
  beforeAll(async () => {
    outside = await openOutside(['example.com', 'hooks.example.com'])
    outside.names.add('hooks.example.com')
    test = await open({ outgoing: toOutgoing(outside) })
    alice = await makePro()
  })
  afterAll(() => outside.close())

  const makePro = () => test.makeUser(`pro-${++users}`, { plan: 'pro' })
  const subscriptionsOf = async (id: string) => {
    const query = partsOf(test.registry)
      .database.read.selectFrom('webhook_subscriptions')
      .select('event')
      .orderBy('event')
    return (await query.where('webhook_id', '=', id).execute()).map(({ event }) => event)
  }

  it('are created with 201, with a secret that is shown once', async () => {
    const user = await makePro()
    expect(await test.statusOf(user, 'createWebhook', { url, events })).toBe(201)
    const { secret, ...made } = await user.api.createWebhook({ url, events, skills: ['pro-1/*', 'bob/a-skill'] })
    expect(made).toEqual({
      id: expect.any(String),
      url,
      events,
      skills: ['pro-1/*', 'bob/a-skill'],
      active: true,
      createdAt: '2026-01-02T12:00:00.000Z',
      updatedAt: '2026-01-02T12:00:00.000Z',
      lastDelivery: null,
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
    const bytes = Buffer.from(secret!.slice('whsec_'.length), 'base64').length
    expect(bytes >= 24 && bytes <= 32).toBe(true)
    const other = await user.api.createWebhook({ url, events })
    expect(other.secret).not.toBe(secret)
    const { id } = made
    expect(await user.api.getWebhook({ id })).toEqual({ ...made, deliveries: [] })
    const shown = [await user.api.listWebhooks({}), await user.api.updateWebhook({ id, active: false })]
    expect(JSON.stringify(shown)).not.toContain(secret)
  })

  it('accept a given secret, and never return it', async () => {
    const user = await makePro()
    for (const secret of ['a secret of mine', `whsec_${Buffer.from('twenty-four bytes of mine').toString('base64')}`]) {
      const made = await user.api.createWebhook({ url, events, secret })
      const shown = [made, await user.api.getWebhook({ id: made.id }), await user.api.listWebhooks({})]
      expect(made).not.toHaveProperty('secret')
      expect(JSON.stringify(shown)).not.toContain(secret)
    }
    const stored = await partsOf(test.registry).database.read.selectFrom('webhooks').select(['secret', 'url']).execute()
    expect(stored.map(({ secret }) => secret)).toContain('a secret of mine')
    const audit = JSON.stringify(await test.admin.api.listAudit({ limit: 100 }))
    for (const { secret } of stored) expect(audit).not.toContain(secret)
    expect(audit).not.toContain('hooks.example.com')
  })

  it('keep a URL as given, also if its host does not resolve yet', async () => {
    for (const given of ['https://hooks.example.com', 'https://Not-Yet.example.com:8443/a b?c=%20#d']) {
      const { id } = await alice.api.createWebhook({ url: given, events })
      expect((await alice.api.getWebhook({ id })).url).toBe(given)
      await alice.api.deleteWebhook({ id })
    }
  })

  it.each(wrongUrls)('refuse the URL %j with an error that names the field', async (wrong) => {
    const { id, url: before } = await alice.api.createWebhook({ url, events })
    const total = await totalOf(alice)
    for (const call of [
      () => alice.api.createWebhook({ url: wrong, events }),
      () => alice.api.updateWebhook({ id, url: wrong, active: false }),
    ]) {
      const refusal = await refusalOf(call())
      expect(refusal.code).toBe('invalid_request')
      expect(refusal.errors.map(({ path }) => path)).toEqual(['url'])
      expect(refusal.message).not.toContain('10.1.2.3')
    }
    expect(await totalOf(alice)).toBe(total)
    expect(await alice.api.getWebhook({ id })).toMatchObject({ url: before, active: true })
    await alice.api.deleteWebhook({ id })
  })

  it.each([
    ['events', { events: [] }],
    ['events', { events: ['skill.starred', 'skill.starred'] }],
    ['events.1', { events: ['skill.starred', 'skill.deleted'] }],
    ['events.0', { events: ['ping'] }],
    ['events.0', { events: ['*'] }],
    ['events', { events: 'skill.starred' }],
    ['skills', { skills: [] }],
    ['skills', { skills: 'bob/*' }],
    ['skills.1', { skills: ['bob/a', 'bob'] }],
    ['skills.0', { skills: ['*/a'] }],
    ['skills.0', { skills: ['*'] }],
    ['skills.0', { skills: ['bob/a/b'] }],
    ['skills.0', { skills: ['Bob/*'] }],
    ['skills', { skills: Array.from({ length: 501 }, (_, i) => `bob/a-${i}`) }],
    ['secret', { secret: '' }],
    ['secret', { secret: 'a'.repeat(201) }],
    ['secret', { secret: 'a\0b' }],
    ['secret', { secret: 'whsec_' }],
    ['secret', { secret: 'whsec_not base64' }],
    ['secret', { secret: null }],
    ['url', { url: null }],
    ['name', { name: 'x' }],
    ['userId', { userId: unknownId }],
    ['failed_run', { failed_run: 0 }],
  ])('name %s as the field at fault in %j', async (field, wrong) => {
    const { id } = await alice.api.createWebhook({ url, events })
    const before = await alice.api.getWebhook({ id })
    const total = await totalOf(alice)
    expect(await fieldsOf(alice.api.createWebhook({ url, events, ...wrong } as never))).toEqual([field])
    expect(await fieldsOf(alice.api.updateWebhook({ id, active: false, ...wrong } as never))).toEqual([field])
    expect(await totalOf(alice)).toBe(total)
    expect(await alice.api.getWebhook({ id })).toEqual(before)
    await alice.api.deleteWebhook({ id })
  })

  it('require a URL and events; `active` is only for updates', async () => {
    expect((await fieldsOf(alice.api.createWebhook({} as never))).toSorted()).toEqual(['events', 'url'])
    expect(await fieldsOf(alice.api.createWebhook({ url, events, active: false } as never))).toEqual(['active'])
    const { id } = await alice.api.createWebhook({ url, events, skills: null })
    expect(await fieldsOf(alice.api.updateWebhook({ id, active: 'no' } as never))).toEqual(['active'])
    expect(await fieldsOf(alice.api.updateWebhook({ id, events: null } as never))).toEqual(['events'])
    await alice.api.deleteWebhook({ id })
  })

  it('are listed newest first, in pages, only to their owner', async () => {
    const user = await makePro()
    const ids = []
    for (let i = 0; i < 3; i++) ids.unshift((await user.api.createWebhook({ url: `${url}/${i}`, events })).id)
    const first = await user.api.listWebhooks({ limit: 2 })
    expect(first).toMatchObject({ total: 3, page: 1, totalPages: 2 })
    const second = await user.api.listWebhooks({ page: 2, limit: 2 })
    expect([...first.webhooks, ...second.webhooks].map(({ id }) => id)).toEqual(ids)
    expect(await user.api.listWebhooks({ page: 9, limit: 2 })).toMatchObject({ webhooks: [], total: 3 })
    const none = { webhooks: [], total: 0, page: 1, totalPages: 0 }
    expect(await (await makePro()).api.listWebhooks({})).toEqual(none)
    expect(await test.admin.api.listWebhooks({})).toEqual(none)
    expect(await fieldsOf(user.api.listWebhooks({ limit: 101 }))).toEqual(['limit'])
  })

  describe('of one user', () => {
    it('are not_found for every other user, administrators too', async () => {
      const { id } = await alice.api.createWebhook({ url, events })
      const before = await alice.api.getWebhook({ id })
      const messages = new Set<string>()
      for (const other of [await makePro(), test.admin]) {
        for (const each of [id, unknownId, 'x', '']) {
          if (each === '' && transport === 'HTTP') continue
          for (const call of Object.values(calls(other.api, each))) {
            const refusal = await refusalOf(call())
            expect(refusal.code).toBe('not_found')
            messages.add(refusal.message)
          }
        }
      }
      expect([...messages]).toEqual(['You have no webhook with this id.'])
      expect(await alice.api.getWebhook({ id })).toEqual(before)
      await alice.api.deleteWebhook({ id })
    })

    it('require a key with the scope `manage`, and the Pro plan or higher', async () => {
      const { id } = await alice.api.createWebhook({ url, events })
      const total = await totalOf(alice)
      expect(await codesOf(all(test.api(), id))).toEqual(['unauthorized'])
      const free = await test.makeUser(`free-${++users}`, { plan: 'free' })
      expect(await codesOf(all(free.api, id))).toEqual(['plan_required'])
      const { key } = await alice.api.createApiKey({ name: 'narrow', scopes: ['read', 'publish'] })
      expect(await codesOf(all(test.apiWithKey(key), id))).toEqual(['forbidden'])
      expect(await totalOf(alice)).toBe(total)
      for (const plan of ['team', 'enterprise'] as const) {
        const user = await test.makeUser(`${plan}-${++users}`, { plan })
        expect(await test.statusOf(user, 'createWebhook', { url, events })).toBe(201)
      }
      await alice.api.deleteWebhook({ id })
    })

    it('are limited to twenty, also for concurrent requests', async () => {
      const user = await makePro()
      const settled = await Promise.allSettled(
        Array.from({ length: 25 }, () => user.api.createWebhook({ url, events })),
      )
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
      const { webhooks, total } = await user.api.listWebhooks({ limit: 100 })
      expect([webhooks.length, total]).toEqual([20, 20])
      const refusal = await refusalOf(user.api.createWebhook({ url, events }))
      expect(refusal.code).toBe('conflict')
      expect(refusal.message).toBe('You have 20 webhooks, which is the maximum. Delete one first.')
      await user.api.deleteWebhook({ id: webhooks[0]!.id })
      expect(await test.statusOf(user, 'createWebhook', { url, events })).toBe(201)
      expect(await test.statusOf(await makePro(), 'createWebhook', { url, events })).toBe(201)
    })

    it("are counted in the user's account data", async () => {
      const user = await makePro()
      const countOf = async () => (await user.api.getMe()).counts.webhooks
      expect(await countOf()).toBe(0)
      const { id } = await user.api.createWebhook({ url, events })
      await user.api.createWebhook({ url, events })
      await alice.api.createWebhook({ url, events })
      expect(await countOf()).toBe(2)
      await user.api.deleteWebhook({ id })
      expect(await countOf()).toBe(1)
    })
  })

  describe('are changed', () => {
    it.each([
      ['url', { url: 'https://hooks.example.com/b' }],
      ['events', { events: ['skill.published'] as const }],
      ['active', { active: false }],
      ['skills', { skills: ['bob/*'] }],
    ])('only in their %s if no other field is given', async (_, changes) => {
      const { secret, ...made } = await alice.api.createWebhook({ url, events, skills: ['bob/a'] })
      test.clock.advance(1000)
      const at = new Date(test.clock.now()).toISOString()
      const changed = { ...made, ...changes, updatedAt: at }
      const answer = await alice.api.updateWebhook({ id: made.id, ...(changes as object) })
      expect(answer).toEqual(changed)
      expect(await alice.api.getWebhook({ id: made.id })).toEqual({ ...changed, deliveries: [] })
      expect((await alice.api.listWebhooks({})).webhooks[0]).toEqual(changed)
      expect(JSON.stringify(answer)).not.toContain(secret)
      await alice.api.deleteWebhook({ id: made.id })
    })

    it('to cover every skill with `skills` set to null', async () => {
      const { id } = await alice.api.createWebhook({ url, events, skills: ['bob/*'] })
      expect((await alice.api.updateWebhook({ id, skills: null })).skills).toBe(null)
      await alice.api.deleteWebhook({ id })
    })

    it('only if a value differs: equal values or an empty request change nothing', async () => {
      const skills = ['bob/*']
      const { id } = await alice.api.createWebhook({ url, events, skills, secret: 'mine' })
      const before = await alice.api.getWebhook({ id })
      const position = partsOf(test.registry).changes.position
      test.clock.advance(1000)
      expect(await test.statusOf(alice, 'updateWebhook', { id })).toBe(200)
      const { deliveries: _deliveries, ...shown } = before
      expect(await alice.api.updateWebhook({ id, url, events, skills, secret: 'mine', active: true })).toEqual(shown)
      expect(await alice.api.getWebhook({ id })).toEqual(before)
      expect(partsOf(test.registry).changes.position).toBe(position)
      await alice.api.deleteWebhook({ id })
    })

    it('and are subscribed to the new events, but only while active', async () => {
      const { id } = await alice.api.createWebhook({ url, events })
      expect(await subscriptionsOf(id)).toEqual(['skill.starred', 'user.followed'])
      await alice.api.updateWebhook({ id, events: ['user.followed', 'skill.published'] })
      expect(await subscriptionsOf(id)).toEqual(['skill.published', 'user.followed'])
      await alice.api.updateWebhook({ id, active: false })
      expect(await subscriptionsOf(id)).toEqual([])
      await alice.api.updateWebhook({ id, events: ['skill.starred'] })
      expect(await subscriptionsOf(id)).toEqual([])
      await alice.api.updateWebhook({ id, active: true })
      expect(await subscriptionsOf(id)).toEqual(['skill.starred'])
      await alice.api.deleteWebhook({ id })
      expect(await subscriptionsOf(id)).toEqual([])
    })

    it('by two concurrent requests without losing either change', async () => {
      const { id } = await alice.api.createWebhook({ url, events })
      const both = [alice.api.updateWebhook({ id, skills: ['bob/*'] }), alice.api.updateWebhook({ id, active: false })]
      await Promise.all(both)
      expect(await alice.api.getWebhook({ id })).toMatchObject({ skills: ['bob/*'], active: false })
      await alice.api.deleteWebhook({ id })
    })
  })

  it('are deleted with 204, and cannot be found afterwards', async () => {
    const { id } = await alice.api.createWebhook({ url, events })
    expect(await test.statusOf(alice, 'deleteWebhook', { id })).toBe(204)
    for (const call of [
      () => alice.api.getWebhook({ id }),
      () => alice.api.updateWebhook({ id }),
      () => alice.api.deleteWebhook({ id }),
      () => alice.api.pingWebhook({ id }),
      () => alice.api.retryDelivery({ id, deliveryId: unknownId }),
    ]) {
      expect(await codeOf(call())).toBe('not_found')
    }
    expect(JSON.stringify(await alice.api.listWebhooks({ limit: 100 }))).not.toContain(id)
  })

  it('cause a cache notification and an audit log entry when changed, but no entry in the public feed', async () => {
    const user = await makePro()
    const heard: string[] = []
    partsOf(test.registry).changes.follow(
      (batch) => {
        heard.push(...batch.map(({ kind, subject }) => `${kind} ${subject}`))
      },
      () => {},
    )
    const { head } = await test.api().getFeed({})
    const { id } = await user.api.createWebhook({ url, events })
    await user.api.updateWebhook({ id, active: false })
    await user.api.deleteWebhook({ id })
    const me = await user.api.getMe()
    expect(heard).toEqual(Array.from({ length: 3 }, () => `webhooks ${me.id}`))
    expect((await test.api().getFeed({})).head).toBe(head)
    const { entries } = await test.admin.api.listAudit({ limit: 100 })
    const mine = entries.filter(({ subject }) => subject === id)
    expect(mine.map(({ action, actor }) => [action, actor])).toEqual([
      ['webhook.delete', user.username],
      ['webhook.update', user.username],
      ['webhook.create', user.username],
    ])
    expect(JSON.stringify(mine)).not.toContain('hooks.example.com')
  })

  it.skipIf(transport === 'in-process')(
    'are created once per Idempotency-Key, which is private to its owner',
    async () => {
      const user = await makePro()
      const headers = {
        authorization: `Bearer ${user.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      }
      const create = () =>
        test.request('/api/v1/webhooks', { method: 'POST', headers, body: JSON.stringify({ url, events }) })
      const { secret, ...made } = (await (await create()).json()) as { secret: string; id: string }
      const again = await create()
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
      expect(await again.json()).toEqual(made)
      expect(secret).toMatch(/^whsec_/)
      expect(await totalOf(user)).toBe(1)
      const shown = await test.request(`/api/v1/webhooks/${made.id}`, { headers })
      expect(shown.headers.get('cache-control')).toBe('private, no-store')
      const etag = shown.headers.get('etag')!
      const same = await test.request(`/api/v1/webhooks/${made.id}`, { headers: { ...headers, 'if-none-match': etag } })
      expect(same.status).toBe(304)
    },
  )
})
