import { getEventListeners } from 'node:events'
import { createSkillClient, type RegistryError, type SkillClientOptions } from '@skillstead/client'
import { describe, expect, it, vi } from 'vitest'
import { createClock } from '../support/harness.ts'
import { loadedSkill, openStandIn, send, sendPage, sendPageOf, sendProblem, sendSkill } from '../support/stand-in.ts'

const hourMs = 3_600_000

/** A client of a fake node that returns a skill until a test sets another response. */
async function openClient(options: SkillClientOptions = {}) {
  const clock = createClock()
  const node = await openStandIn()
  const stale: [string, RegistryError][] = []
  const client = createSkillClient({
    baseUrl: node.url,
    now: clock.now,
    onStale: (name, error) => stale.push([name, error]),
    ...options,
  })
  return { clock, node, stale, client }
}

describe('a skill client whose node is unavailable', () => {
  it.each([
    ['an error of the node', sendProblem(500, 'internal')],
    ['a node that is overloaded', sendProblem(503, 'overloaded', { 'retry-after': '5' })],
    ['a node that asks for patience', sendProblem(429, 'rate_limited', { 'retry-after': '5' })],
    ['the page of a sign-in', sendPage],
    ['a page that says 404', sendPageOf(404)],
    ['a page that says 403', sendPageOf(403)],
    ['a page that says 401', sendPageOf(401)],
    ['JSON that was cut off', send('{"level":"full","met')],
    ['JSON of another shape', send({ hello: 'world' })],
    ['a skill without its text', send({ ...loadedSkill(), fullContent: undefined })],
    ['another level', send(loadedSkill('metadata'))],
  ])('returns cached skills despite %s, and reports the error', async (_, answer) => {
    const { client, clock, node, stale } = await openClient()
    const first = await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = answer
    expect(await client.load('alice/pdf')).toEqual(first)
    expect(stale).toMatchObject([['alice/pdf', { name: 'RegistryError' }]])
    expect(node.requests, 'one try, where there is something to fall back on').toHaveLength(2)
  })

  it('returns cached skills if the node does not respond, and sends a request at most every 30 seconds', async () => {
    const { client, clock, node, stale } = await openClient()
    const first = await client.load('alice/pdf')
    await node.close()
    clock.advance(hourMs)
    for (let i = 0; i < 5; i++) expect(await client.load('alice/pdf')).toEqual(first)
    expect(stale).toHaveLength(1)
    clock.advance(30_000)
    await client.load('alice/pdf')
    expect(stale).toHaveLength(2)
  })

  it('returns cached skills if the node is slow', async () => {
    const { client, clock, node, stale } = await openClient({ timeoutMs: 5000 })
    const first = await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = () => {}
    expect(await client.load('alice/pdf')).toEqual(first)
    expect(stale).toMatchObject([['alice/pdf', { code: 'upstream_timeout' }]])
  })

  it('waits for the time in Retry-After, at most one hour, before the next request', async () => {
    const { client, clock, node } = await openClient()
    await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = sendProblem(429, 'rate_limited', { 'retry-after': '120' })
    await client.load('alice/pdf')
    clock.advance(119_999)
    await client.load('alice/pdf')
    expect(node.requests).toHaveLength(2)
    clock.advance(1)
    node.answer = sendProblem(429, 'rate_limited', { 'retry-after': '999999999' })
    await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = sendSkill
    await client.load('alice/pdf')
    expect(node.requests).toHaveLength(4)
  })

  it('derives a requested level from a higher level of the skill in its cache', async () => {
    const { client, clock, node, stale } = await openClient()
    await client.load('alice/pdf')
    await node.close()
    clock.advance(hourMs)
    expect(await client.load('alice/pdf', { level: 'summary' })).toEqual(loadedSkill('summary'))
    expect(stale).toHaveLength(1)
  })

  it('returns the last result of a search, and sends each search again once the node is available', async () => {
    const { client, clock, node, stale } = await openClient()
    const found = { skills: [{ fullName: 'alice/pdf' }], total: 1, page: 1, totalPages: 1, filters: { q: 'pdf' } }
    node.answer = send(found)
    await client.search('pdf')
    node.answer = sendPage
    expect(await client.search('pdf')).toEqual(found)
    expect(stale).toHaveLength(1)
    await expect(client.search('csv')).rejects.toMatchObject({ code: 'upstream_failed' })
    clock.advance(30_000)
    node.answer = send({ ...found, skills: [], total: 0 })
    expect((await client.search('pdf')).total).toBe(0)
    node.answer = send(found)
    expect((await client.search('pdf')).total).toBe(1)
  })

  it('throws the error of the request if the skill is not in its cache', async () => {
    const { client, node } = await openClient()
    node.answer = send({ hello: 'world' })
    await expect(client.load('alice/pdf')).rejects.toThrow(
      "The registry sent a loaded skill without a valid 'metadata.name'. Is its version newer than that of this program?",
    )
    await expect(client.search('pdf')).rejects.toMatchObject({ code: 'upstream_failed' })
    node.answer = sendSkill
    await expect(client.load('alice/pdf', { version: '2.0.0' })).rejects.toThrow(
      'The registry sent version 1.0.0 instead of 2.0.0.',
    )
    expect((await client.load('alice/pdf')).level, 'and keeps nothing of it').toBe('full')
  })
})

describe('a skill client whose requests the node rejects', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [451, 'taken_down'],
  ])('removes the skill from its cache after a %i response', async (status, code) => {
    const { client, clock, node, stale } = await openClient()
    await client.load('alice/pdf')
    await client.load('alice/pdf', { level: 'metadata', maxTokens: 900 })
    clock.advance(hourMs)
    node.answer = sendProblem(status, code)
    await expect(client.load('alice/pdf')).rejects.toMatchObject({ code })
    await node.close()
    clock.advance(-hourMs)
    const wanted = [{}, { level: 'summary' }, { level: 'metadata', maxTokens: 900 }] as const
    const loads = await Promise.allSettled(wanted.map((options) => client.load('alice/pdf', options)))
    const refused = { status: 'rejected', reason: { code: 'upstream_failed' } }
    expect(loads).toMatchObject([refused, refused, refused])
    expect(stale).toEqual([])
  })

  it('treats a 410 response without a body as a deleted skill', async () => {
    const { client, clock, node } = await openClient()
    await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = (_, response) => void response.writeHead(410).end('Gone')
    await expect(client.load('alice/pdf')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('clears its cache if its API key becomes invalid, and removes one skill if only that skill is rejected', async () => {
    const { client, clock, node } = await openClient()
    await client.load('alice/pdf')
    clock.advance(1)
    await client.load('alice/csv')
    node.answer = sendProblem(404, 'not_found')
    clock.advance(hourMs - 1)
    await expect(client.load('alice/pdf')).rejects.toMatchObject({ code: 'not_found' })
    expect((await client.load('alice/csv')).level).toBe('full')
    node.answer = sendProblem(401, 'unauthorized')
    await expect(client.load('alice/xml')).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(client.load('alice/csv')).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

describe('the requests of a skill client', () => {
  it('revalidate cached skills by ETag', async () => {
    const { client, clock, node } = await openClient()
    const first = await client.load('alice/pdf')
    clock.advance(hourMs)
    expect(await client.load('alice/pdf')).toEqual(first)
    expect(node.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1-full"'])
    clock.advance(hourMs - 1)
    await client.load('alice/pdf')
    expect(node.requests, 'it is fresh for another hour').toHaveLength(2)
    clock.advance(1)
    node.answer = send(loadedSkill('full', '1.1.0'), { etag: '"2-full"' })
    expect((await client.load('alice/pdf')).metadata.version).toBe('1.1.0')
  })

  it('reject a 304 response to a request without an ETag', async () => {
    const { client, node } = await openClient()
    node.answer = (_, response) => void response.writeHead(304).end()
    await expect(client.load('alice/pdf')).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('contain exactly the parameters of the caller, and the API key', async () => {
    const { client, node } = await openClient({ apiKey: 'ssk_1', client: 'agent' })
    const priority = ['Steps', 'Notes & more']
    await client.load('alice/pdf', { level: 'summary', version: '1.0.0', maxTokens: 400, priority })
    const [{ path, headers }] = node.requests as [(typeof node.requests)[0]]
    expect(path).toBe(
      '/api/v1/skills/alice%2Fpdf/load?level=summary&version=1.0.0&maxTokens=400&priority=Steps%2CNotes+%26+more',
    )
    expect(headers).toMatchObject({ authorization: 'Bearer ssk_1', 'x-skillstead-client': 'agent' })
  })

  it('continue if one of several callers aborts, and are aborted when the last caller aborts', async () => {
    const { client, node } = await openClient()
    const arrived = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    node.answer = (request, response) => {
      arrived.resolve()
      response.on('close', ended.resolve)
      node.answer = sendSkill
      go.promise.then(() => sendSkill(request, response))
    }
    const go = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const left = client.load('alice/pdf', { signal: leaving.signal })
    const stayed = client.load('alice/pdf')
    await arrived.promise
    leaving.abort(new Error('I left.'))
    await expect(left).rejects.toThrow('I left.')
    go.resolve()
    expect((await stayed).level).toBe('full')
    expect(node.requests).toHaveLength(1)

    const alone = new AbortController()
    client.clear()
    const waiting = Promise.withResolvers<void>()
    const hungUp = Promise.withResolvers<void>()
    node.answer = (_, response) => {
      response.on('close', hungUp.resolve)
      waiting.resolve()
    }
    const abandoned = client.load('alice/pdf', { signal: alone.signal })
    await waiting.promise
    alone.abort()
    await expect(abandoned).rejects.toMatchObject({ name: 'AbortError' })
    await hungUp.promise
    await expect(client.load('alice/pdf', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('leave no listeners on an abort signal that many calls share', async () => {
    const { client } = await openClient()
    const { signal } = new AbortController()
    const names = Array.from({ length: 20 }, (_, i) => `alice/pdf-${i}`)
    expect(await client.loadMany(names, { signal })).toHaveLength(20)
    await client.load('alice/pdf', { signal })
    await client.search('pdf', { signal }).catch(() => undefined)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('do not fill the cache with a response that arrives after the cache was cleared', async () => {
    const { client, node } = await openClient()
    node.answer = (...message) => {
      client.clear()
      sendSkill(...message)
    }
    await client.load('alice/pdf')
    await client.load('alice/pdf')
    expect(node.requests).toHaveLength(2)
  })

  it('are logged in debug mode, without the API key', async () => {
    const said = vi.spyOn(console, 'debug').mockImplementation(() => {})
    const { client, clock, node } = await openClient({ debug: true, apiKey: 'ssk_secret' })
    await client.load('alice/pdf')
    clock.advance(hourMs)
    node.answer = sendPage
    await client.load('alice/pdf')
    const lines = said.mock.calls.map(([line]) => String(line))
    said.mockRestore()
    expect(lines.map((line) => line.replace(/\d+ ms$/, 'N ms'))).toEqual([
      'skillstead: GET /api/v1/skills/alice%2Fpdf/load?level=full: 200, N ms',
      'skillstead: GET /api/v1/skills/alice%2Fpdf/load?level=full: 200, N ms',
      expect.stringMatching(/^skillstead: alice\/pdf from the cache: .+ returned text\/html/),
    ])
    expect(lines.join('\n')).not.toContain('secret')
  })

  it('are sent only with valid options: invalid options throw an error when the client is created', async () => {
    const { client } = await openClient()
    const api = client as never
    for (const options of [
      { cacheTtl: -1 },
      { cacheTtl: Number.NaN },
      { baseUrl: 'nonsense' },
      { timeoutMs: Infinity },
      { timeoutMs: 0 },
      { api, apiKey: 'ssk_1' },
    ]) {
      expect(() => createSkillClient(options)).toThrow(TypeError)
    }
    expect(() => createSkillClient()).not.toThrow()
  })
})
