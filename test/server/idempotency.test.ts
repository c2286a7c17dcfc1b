import {
  beginIdempotent,
  finishIdempotent,
  type IdempotentClaim,
  noteWrites,
  partsOf,
  withParts,
} from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { createClock } from '../support/harness.ts'
import { json, startNode } from '../support/server-harness.ts'

const once = (key: string, body: unknown, headers = {}): RequestInit => {
  const init = json(body)
  return { ...init, headers: { ...init.headers, ...headers, 'idempotency-key': key } }
}

describe('a request with an Idempotency-Key', () => {
  it('is executed once; the replayed response omits the secret of the first response', async () => {
    const { as } = await startNode()
    const first = await as('/api-keys', once('k1', { name: 'ci' }))
    const made = await first.json()
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const second = await as('/api-keys', once('k1', { name: 'ci' }))
    expect(second.status).toBe(201)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    const text = await second.text()
    const { key, ...rest } = made
    expect(key).toMatch(/^ssk_/)
    expect(JSON.parse(text)).toEqual(rest)
    expect(text).not.toContain(key)
    const { apiKeys } = await (await as('/api-keys')).json()
    expect(apiKeys.filter(({ name }: { name: string }) => name === 'ci')).toHaveLength(1)
  })

  it('gets the verification token in the replayed response, because the token is not secret', async () => {
    const { as } = await startNode()
    const body = { method: 'manual', proof: 'Ask me.' }
    const first = await as('/users/alice/verify', once('k0', body))
    expect(first.status).toBe(202)
    const second = await as('/users/alice/verify', once('k0', body))
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await second.json()).toEqual(await first.json())
  })

  it('is rejected if the key was used with another body, query or path', async () => {
    const { as } = await startNode()
    await as('/api-keys', once('k2', { name: 'one' }))
    for (const again of [
      as('/api-keys', once('k2', { name: 'two' })),
      as('/api-keys?x=1', once('k2', { name: 'one' })),
      as('/packs', once('k2', { name: 'one' })),
    ]) {
      const response = await again
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ code: 'idempotency_key_reused' })
    }
  })

  it('does not share its key with other users', async () => {
    const { as, get, createUser } = await startNode()
    const bob = await createUser('bob')
    const body = { name: 'mine' }
    expect((await as('/api-keys', once('k3', body))).status).toBe(201)
    const other = await get('/api-keys', once('k3', body, { authorization: `Bearer ${bob}` }))
    expect(other.headers.get('idempotency-replayed')).toBeNull()
    expect(await other.json()).toHaveProperty('key')
  })

  it('that only reads is executed again, because its response is not stored', async () => {
    const { as, api } = await startNode()
    const total = async (q: string) => {
      const response = await as('/search', once('k7', { q }))
      expect(response.headers.get('idempotency-replayed')).toBeNull()
      return (await response.json()).total
    }
    expect(await total('pdf')).toBe(1)
    await api.deleteSkill({ name: 'pdf' })
    expect(await total('pdf')).toBe(0)
    expect(await total('other')).toBe(0)
  })

  it('that failed with a client error gets the same error again', async () => {
    const { as } = await startNode()
    const first = await as('/api-keys', once('k4', { name: '' }))
    const second = await as('/api-keys', once('k4', { name: '' }))
    expect([first.status, second.status]).toEqual([400, 400])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('content-type')).toBe('application/problem+json')
    expect(await second.json()).toEqual(await first.json())
  })

  it('that failed with an authentication error or an error of the node can be retried', async () => {
    let broken = false
    const now = () => {
      if (broken) throw new Error('broken')
      return Date.now()
    }
    const { as, get } = await startNode({}, (registry) =>
      withParts(registry, { clock: { ...partsOf(registry).clock, now } }),
    )
    const body = { name: 'later' }
    expect((await get('/api-keys', once('k5', body))).status).toBe(401)
    const done = await as('/api-keys', once('k5', body))
    expect(done.status).toBe(201)
    expect(done.headers.get('idempotency-replayed')).toBeNull()
    broken = true
    expect((await as('/api-keys', once('k6', body))).status).toBe(500)
    broken = false
    const repaired = await as('/api-keys', once('k6', body))
    expect(repaired.status).toBe(201)
    expect(repaired.headers.get('idempotency-replayed')).toBeNull()
  })

  it('whose claim of the key expired does not overwrite the response of a later request with the key', async () => {
    const clock = createClock()
    const { registry } = await startNode({}, undefined, { clock })
    const alice = await registry.getCaller('alice')
    const claim = async () => beginIdempotent(partsOf(registry), alice, 'k9', 'body')
    const slow = (await claim()) as IdempotentClaim
    await expect(claim()).rejects.toMatchObject({ code: 'conflict' })
    clock.advance(60_000)
    const second = (await claim()) as IdempotentClaim
    expect(second).toMatchObject({ state: 'new' })
    await finishIdempotent(partsOf(registry), alice, 'k9', slow, 'failed')
    await expect(claim()).rejects.toMatchObject({ code: 'conflict' })
    await finishIdempotent(partsOf(registry), alice, 'k9', second, { status: 201, body: '{"second":true}' })
    await finishIdempotent(partsOf(registry), alice, 'k9', slow, { status: 201, body: '{"second":false}' })
    expect(await claim()).toMatchObject({ state: 'done', body: '{"second":true}' })
  })

  it('is executed if the key was claimed before the clock was set back', async () => {
    const clock = createClock()
    const { registry } = await startNode({}, undefined, { clock })
    const alice = await registry.getCaller('alice')
    const claim = async () => beginIdempotent(partsOf(registry), alice, 'k11', 'body')
    await claim()
    clock.advance(-30_000)
    await expect(claim()).rejects.toMatchObject({ code: 'conflict' })
    clock.advance(-365 * 24 * 3_600_000)
    expect(await claim()).toEqual({ state: 'new', claimedAt: clock.now() })
  })

  it('is not executed again if it was stored before the clock was set back', async () => {
    const clock = createClock()
    const { registry } = await startNode({}, undefined, { clock })
    const parts = partsOf(registry)
    const alice = await registry.getCaller('alice')
    const claim = async () => beginIdempotent(parts, alice, 'k12', 'body')
    const first = (await claim()) as IdempotentClaim
    await noteWrites(parts, alice, 'k12', first).database.writer.write(async () => undefined)
    await expect(claim()).rejects.toThrow('still running')
    clock.advance(-3_600_000)
    await expect(claim()).rejects.toThrow('its response was lost')
  })

  it('may be a PUT without a request body and without a response body', async () => {
    const { as } = await startNode()
    const init = { method: 'PUT', headers: { 'idempotency-key': 'k7' } }
    const answers = [await as('/skills/pdf/versions/1.0.0', init), await as('/skills/pdf/versions/1.0.0', init)]
    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true')
  })

  it('needs a key of 1 to 255 visible ASCII characters', async () => {
    const { as } = await startNode()
    for (const key of ['a b', 'a'.repeat(256), 'ü']) {
      expect((await as('/api-keys', once(key, { name: 'x' }))).status, key).toBe(400)
    }
    expect((await as('/api-keys', once('~'.repeat(255), { name: 'x' }))).status).toBe(201)
  })

  it('is an ordinary request if it reads, deletes or has no credentials', async () => {
    const { as, get } = await startNode()
    const headers = { 'idempotency-key': 'k8' }
    for (const answer of [as('/users/me', { headers }), as('/users/me', { headers }), get('/skills', { headers })]) {
      expect((await answer).headers.get('idempotency-replayed')).toBeNull()
    }
  })
})
