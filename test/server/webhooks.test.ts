import { partsOf } from '@skillstead/core/internal'
import { WebhookEvent, eventNames, pingEvent, type Delivery, type Webhook } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { json, startNode } from '../support/server-harness.ts'

const hook = { url: 'https://hooks.example.com/', events: ['skill.starred'] }

/** A node to which no name leads anywhere: whatever it sends fails. */
function startCutOff() {
  return startNode({}, undefined, { outgoing: { resolver: { lookup: findNothing, txt: findNothing } } })
}

function findNothing(): Promise<never> {
  return Promise.reject(Object.assign(new Error('There is no such name.'), { code: 'ENOTFOUND' }))
}

const once = (key: string, body?: unknown): RequestInit => {
  const init = body === undefined ? { method: 'POST' } : json(body)
  return { ...init, headers: { ...init.headers, 'idempotency-key': key } }
}

describe('webhooks over HTTP', () => {
  it('are created once per Idempotency-Key; the replayed response omits the secret', async () => {
    const { as } = await startCutOff()
    const first = await as('/webhooks', once('k1', hook))
    expect(first.status).toBe(201)
    const { secret, ...made } = (await first.json()) as Webhook & { secret: string }
    expect(secret).toMatch(/^whsec_/)
    const second = await as('/webhooks', once('k1', hook))
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    const text = await second.text()
    expect(JSON.parse(text)).toEqual(made)
    expect(text).not.toContain(secret)
    expect((await as('/webhooks', once('k1', { ...hook, events: ['user.followed'] }))).status).toBe(422)
    expect(await (await as('/webhooks')).json()).toMatchObject({ webhooks: [{ id: made.id }], total: 1 })
  })

  it('are pinged and retried once per Idempotency-Key', async () => {
    const { as } = await startCutOff()
    const { id } = await (await as('/webhooks', json(hook))).json()
    const pings = [await as(`/webhooks/${id}/ping`, once('k2')), await as(`/webhooks/${id}/ping`, once('k2'))]
    expect(pings.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual([
      [202, null],
      [202, 'true'],
    ])
    const [first, second] = (await Promise.all(pings.map((response) => response.json()))) as [Delivery, Delivery]
    expect(second).toEqual(first)
    const read = async () => (await (await as(`/webhooks/${id}`)).json()).deliveries as Delivery[]
    await expect.poll(read).toMatchObject([{ id: first.id, status: 'failed' }])
    const path = `/webhooks/${id}/deliveries/${first.id}/retry`
    const retries = [await as(path, once('k3')), await as(path, once('k3'))]
    expect(retries.map(({ status }) => status)).toEqual([202, 202])
    await expect
      .poll(async () => (await read()).map(({ status, attempts }) => [status, attempts.length]))
      .toEqual([['failed', 2]])
    expect(await read()).toHaveLength(1)
  })

  it('must not be cached by proxies, but can be revalidated by ETag', async () => {
    const { as, get } = await startCutOff()
    const made = await as('/webhooks', json(hook))
    expect(made.headers.get('cache-control')).toBe('private, no-store')
    const { id } = await made.json()
    for (const path of ['/webhooks', `/webhooks/${id}`]) {
      const first = await as(path)
      expect(first.headers.get('cache-control')).toBe('private, no-store')
      expect(first.headers.get('vary')).toBe('Authorization, Cookie')
      const etag = first.headers.get('etag')!
      expect(etag).toMatch(/^"/)
      const again = await as(path, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      expect((await as(path, { method: 'HEAD' })).headers.get('etag')).toBe(etag)
      expect((await get(path)).status).toBe(401)
      await as(`/webhooks/${id}`, { ...json({ active: false }), method: 'PATCH' })
      expect((await as(path, { headers: { 'if-none-match': etag } })).status).toBe(200)
      await as(`/webhooks/${id}`, { ...json({ active: true }), method: 'PATCH' })
    }
  })

  it('require the Pro plan for every request, even an invalid one', async () => {
    const { get, createUser } = await startCutOff()
    const authorization = `Bearer ${await createUser('bob')}`
    for (const [method, path] of [
      ...([['GET', ''] as const, ['POST', ''], ['GET', '/x'], ['PATCH', '/x'], ['DELETE', '/x']] as const),
      ...([['POST', '/x/ping'] as const, ['POST', '/x/deliveries/y/retry']] as const),
    ]) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{"nonsense":' }
      const headers = { authorization, 'content-type': 'application/json' }
      const response = await get(`/webhooks${path}`, { method, headers, ...body })
      expect([response.status, (await response.json()).code], `${method} ${path}`).toEqual([403, 'plan_required'])
    }
  })
})

describe('a node with webhooks', () => {
  it('describes the body, headers and expected response of each event in /openapi.json', async () => {
    const { node } = await startNode()
    const { webhooks, components, paths } = await (await fetch(`${node.url}/openapi.json`)).json()
    expect(Object.keys(webhooks)).toEqual([...eventNames, pingEvent])
    const ids = new Set(Object.values<Record<string, { operationId: string }>>(paths).flatMap(toOperationIds))
    for (const [event, { post }] of Object.entries<{ post: Post }>(webhooks)) {
      expect(ids, event).not.toContain(post.operationId)
      ids.add(post.operationId)
      const [named, ...shared] = post.parameters
      expect(named).toMatchObject({ in: 'header', name: 'X-Service-Event', schema: { const: event } })
      const names = shared.map(({ $ref }) => components.parameters[$ref.split('/').at(-1)!].name)
      const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
      expect(names).toEqual(['X-Service-Delivery', 'X-Service-Signature', ...standard])
      const { schema } = post.requestBody.content['application/json']!
      const { entries } = WebhookEvent.options.find((option) => option.entries.event.literal === event)!
      expect(schema.required).toEqual(['id', 'timestamp', 'event', 'data'])
      expect(schema.properties.event!.const).toBe(event)
      expect(Object.keys(schema.properties.data!.properties)).toEqual(Object.keys(entries.data.entries))
      expect(post.responses).toHaveProperty('2XX')
      expect(post.security).toEqual([])
    }
    const { properties } = webhooks['skill.review.created'].post.requestBody.content['application/json'].schema
    expect(Object.keys(properties.data.properties.review.properties)).toEqual(['id', 'rating', 'title', 'body'])
    const reviewers = properties.data.properties.reviewer.anyOf.map(({ required }: { required: string[] }) => required)
    expect(reviewers).toEqual([['username'], ['agentKey', 'displayName', 'platformId', 'authenticated']])
  })

  it('shows the length, delay and failures of the outbox in /metrics, but no URL of a webhook', async () => {
    const { node, as, registry } = await startCutOff()
    const { id } = await (await as('/webhooks', json(hook))).json()
    await as(`/webhooks/${id}/ping`, { method: 'POST' })
    // The failure is counted first, and then written.
    await expect.poll(() => partsOf(registry).outbox.figures()).toMatchObject({ failures: 1, failed: 1 })
    const dueAt = Date.now() - 120_000
    await partsOf(registry).database.writer.write((trx) =>
      partsOf(registry).outbox.enqueue(trx, { topic: 'topic.without.handler', payload: {}, dueAt }),
    )
    const { pending, attempts } = await partsOf(registry).outbox.figures()
    const text = await (await fetch(`${node.url}/metrics`)).text()
    const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    expect(valueOf('skillstead_outbox_pending')).toBe(pending)
    expect(valueOf('skillstead_outbox_failed')).toBe(1)
    expect(valueOf('skillstead_outbox_oldest_seconds')).toBeGreaterThanOrEqual(120)
    expect(valueOf('skillstead_outbox_attempts_total')).toBe(attempts)
    expect(valueOf('skillstead_outbox_failures_total')).toBe(1)
    expect(text).not.toContain('hooks.example.com')
    expect(text).not.toContain(id)
  })

  it('has valid Prometheus metrics: every metric has a help text and a type, and counters end in _total', async () => {
    const { node } = await startNode()
    const text = await (await fetch(`${node.url}/metrics`)).text()
    const types = [...text.matchAll(/^# HELP (\S+) .+\n# TYPE (\S+) (\S+)$/gm)].map(([, help, name, type]) => {
      expect(help).toBe(name)
      return [name!, type!] as const
    })
    expect(types).toContainEqual(['skillstead_outbox_pending', 'gauge'])
    for (const [name, type] of types) expect(name.endsWith('_total'), name).toBe(type === 'counter')
    const families = new Map(types)
    expect(families.size).toBe(types.length)
    for (const [, name] of text.matchAll(/^([a-z_]+)[ {]/gm))
      expect(families.has(name!) || families.has(name!.replace(/_(bucket|sum|count)$/, '')), name).toBe(true)
  })
})

/** As much of an operation as is looked at. */
interface Post {
  operationId: string
  parameters: { name: string; $ref: string }[]
  requestBody: { content: Record<string, { schema: { required: string[]; properties: Record<string, Properties> } }> }
  responses: object
  security: object[]
}
type Properties = { const?: string; properties: object }

function toOperationIds(path: Record<string, { operationId: string }>): string[] {
  return Object.values(path).map(({ operationId }) => operationId)
}
