import { createClient, createSkillClient } from '@skillstead/client'
import { partsOf } from '@skillstead/core/internal'
import type { SearchResult } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { json, startNode, type Fixture } from '../support/server-harness.ts'

const need =
  'A shop receives each payment notification twice and charges its customers again; ignore repeated deliveries.'
const body = '# Webhooks\n\nIgnore a repeated payment notification, so that customers are charged once per delivery.\n'

async function startShop() {
  const fixture = await startNode()
  await fixture.api.publishSkill({ skillMd: `---\nname: hooks\ndescription: Handles hooks.\n---\n${body}` })
  return fixture
}

async function ask(
  { get }: Fixture,
  input: object,
): Promise<{ status: number; body: SearchResult & { code?: string } }> {
  const response = await get('/search', json(input))
  return { status: response.status, body: (await response.json()) as SearchResult }
}

describe('POST /search', () => {
  it('returns the same as GET /skills for the same parameters', async () => {
    const fixture = await startShop()
    for (const parameters of [
      { q: need },
      { q: 'hooks', explain: true, limit: 1 },
      { q: '', sort: 'recent', page: 2, limit: 1 },
    ] as const) {
      const address = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, `${value}`]))
      const got: unknown = await (await fixture.get(`/skills?${address}`)).json()
      expect(await ask(fixture, parameters)).toEqual({ status: 200, body: got })
    }
    expect((await ask(fixture, { q: need })).body.skills.map(({ fullName }) => fullName)).toEqual(['alice/hooks'])
  })

  it('accepts texts of 2,000 characters, and refuses longer texts and unknown fields', async () => {
    const fixture = await startShop()
    expect(await ask(fixture, { q: need.padEnd(2000, ' once') })).toMatchObject({ status: 200, body: { total: 1 } })
    expect(await ask(fixture, { q: need.padEnd(2001) })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
    expect(await ask(fixture, { query: need })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  it.each([
    ['one word', 'a'.repeat(2000)],
    ['one repeated word', 'payment '.repeat(250)],
    ['400 different words', Array.from({ length: 400 }, (_, i) => (i * 7919).toString(36)).join(' ')],
    ['punctuation', '!?;:"()*^-'.repeat(200)],
    ['mixed scripts', 'payment付款платёжدفع支払い '.repeat(80)],
    ['invisible characters', 'p\u200ba\u2060y\u00adment '.repeat(150)],
    ['operators of full-text queries', 'NEAR(a b, 2) OR "c" NOT d* ^e {f g}: -h & !i | <-> '.repeat(40)],
  ])('answers 2,000 characters of %s', async (_, q) => {
    const { status, body: result } = await ask(await startShop(), { q: q.slice(0, 2000) })
    expect({ status, isCounted: result.total === result.skills.length }).toEqual({ status: 200, isCounted: true })
  })

  it('is limited like every request, and caches do not store its response', async () => {
    const { headers } = await (await startShop()).get('/search', json({ q: need }))
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'private, no-store',
      'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    })
  })

  it('reports with `partial` that the most frequent words of a costly query were left out, as GET /skills does', async () => {
    const { get } = await startNode({}, (registry) => {
      const { search } = partsOf(registry)
      const find = search.search.bind(search)
      search.search = async (query) => ({ ...(await find(query)), partial: true as const })
      return registry
    })
    for (const response of [await get('/search', json({ q: 'pdf' })), await get('/skills?q=pdf')])
      expect(await response.json()).toMatchObject({ partial: true, total: 1, skills: [{ name: 'pdf' }] })
  })

  it('is sent by the clients for a text that is too long for a URL', async () => {
    const { node } = await startShop()
    const long = need.padEnd(1500, ' once')
    const asked: string[] = []
    const fetchLogged: typeof fetch = (input, init) => {
      asked.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`)
      return fetch(input, init)
    }
    const skills = createSkillClient({ baseUrl: node.url, fetch: fetchLogged })
    for (const q of ['hooks', long]) expect((await skills.search(q)).total).toBe(1)
    expect(asked).toEqual(['GET /api/v1/skills', 'POST /api/v1/search'])
    expect((await skills.search('hooks', { context: { languages: ['Go'] } })).total).toBe(1)
    expect(asked.at(-1)).toBe('POST /api/v1/search')
    expect((await createClient({ baseUrl: node.url }).searchByNeed({ q: long })).total).toBe(1)
  })
})
