import { createNode } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { skillMd, startNode } from '../support/server-harness.ts'

const ofOneRequest = new Set(['date', 'x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'x-ratelimit-reset'])

async function toAnswer(response: Response) {
  const headers = [...response.headers].filter(([name]) => !ofOneRequest.has(name))
  const body = (await response.text()).replace(/"requestId":"[^"]*"/, '')
  return { status: response.status, headers: Object.fromEntries(headers), body }
}

describe('GET /skills/<name>', () => {
  it('gives the same answer with an empty query, which the router handles', async () => {
    const { node, api, key } = await startNode({ corsOrigins: ['https://app.example'] })
    await api.publishSkill({ skillMd: skillMd.replace('pdf', 'secret'), version: '1.0.0', visibility: 'private' })
    const { token } = await api.createShare({ name: 'alice/secret' })
    const names = ['pdf', 'alice%2Fpdf', 'alice%2fpdf', 'alice%2Fsecret', 'secret', 'nothing', 'alice%2Fnothing']
    const others = [
      'need',
      'suggest',
      'search',
      '-',
      '_',
      'alice%252Fpdf',
      'alice/pdf',
      'PDF',
      'p%64f',
      '.',
      '%2e',
      '%ff',
    ]
    const ways: Readonly<Record<string, string>>[] = [
      {},
      { authorization: `Bearer ${key}` },
      { authorization: 'Bearer ssk_wrong' },
      { 'x-share-token': token! },
      { origin: 'https://app.example' },
      { origin: 'https://other.example' },
      { 'if-none-match': '*' },
      { 'x-skillstead-session': '1', cookie: 'skillstead-session=wrong' },
    ]
    for (const name of [...names, ...others]) {
      for (const headers of ways) {
        const ask = async (query: string) =>
          toAnswer(await fetch(`${node.url}/api/v1/skills/${name}${query}`, { headers, redirect: 'manual' }))
        const routed = await ask('?')
        // The second request finds the cached response.
        for (let round = 0; round < 2; round++) expect(await ask(''), `${name} ${Object.keys(headers)}`).toEqual(routed)
      }
    }
  })

  it('answers from the cache of a mounted node, until the skill changes', async () => {
    const { registry, api } = await startNode()
    const node = createNode(registry, { rates: { anonymous: 4 } })
    const read = (path = 'pdf') => node.fetch(new Request(`http://localhost/api/v1/skills/${path}`))
    const first = await read()
    const etag = first.headers.get('etag')
    expect((await read()).headers.get('etag')).toBe(etag)
    await api.publishSkill({ skillMd: skillMd.replace('Reads them', 'Changed'), version: '1.1.0' })
    const changed = await read()
    expect(await changed.json()).toMatchObject({ latestVersion: '1.1.0' })
    expect(changed.headers.get('x-ratelimit-remaining')).toBe('1')
    await api.publishSkill({ name: 'pdf', visibility: 'private' })
    expect((await read()).status).toBe(404)
    expect((await read()).status).toBe(429)
    node.drain()
    expect((await read()).status).toBe(503)
    node.close()
  })
})
