import type { StaticFiles } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { createClock } from '../support/harness.ts'
import { startNode } from '../support/server-harness.ts'

const files: StaticFiles = new Map([['index.html', () => Buffer.from('<!doctype html><title>Skillstead</title>')]])
const remaining = ({ headers }: Response) => Number(headers.get('x-ratelimit-remaining'))
const name = (page: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { 'x-skillstead-page': page, ...more },
})
const calls = ['/skills', '/skills/alice%2Fpdf', '/skills/alice%2Fpdf', '/packs', '/trending', '/session']

describe('a page of the dashboard', () => {
  it('counts as one request of a guest, with its document and all of its calls', async () => {
    const { node, get } = await startNode({ dashboard: files, rates: { anonymous: 10 } })
    expect(remaining(await fetch(`${node.url}/skills/alice/pdf`))).toBe(9)
    for (const path of calls) expect([path, remaining(await get(path, name('one')))]).toEqual([path, 9])
    // Within the app, the next page has no document of its own.
    for (const path of calls) expect([path, remaining(await get(path, name('two')))]).toEqual([path, 8])
    expect(remaining(await get('/skills/alice%2Fpdf'))).toBe(7)
  })

  it('counts as one request of a signed-in user', async () => {
    const { node, get, createUser } = await startNode({ dashboard: files, rates: { free: 5 } })
    const key = await createUser('bob', 'free')
    const signIn = await get('/session', { method: 'POST', headers: { authorization: `Bearer ${key}` } })
    const cookie = signIn.headers.get('set-cookie')!.split(';')[0]!
    const own = { cookie, 'x-skillstead-session': '1', origin: node.url }
    expect(remaining(await get('/users/me', name('one', own)))).toBe(3)
    for (const path of calls) expect([path, remaining(await get(path, name('one', own)))]).toEqual([path, 3])
  })

  it('is charged four units of the file rate limit for each repeated call', async () => {
    const { get } = await startNode({ dashboard: files, rates: { anonymous: 5, files: 8 } })
    const read = async () => (await get('/packs', name('one'))).status
    expect([await read(), await read(), await read(), await read()]).toEqual([200, 200, 200, 429])
    const refused = await get('/packs', name('one'))
    expect(refused.headers.get('ratelimit-policy')).toBe('"files";q=8;w=60')
    expect((await get('/packs', name('two'))).status).toBe(200)
  })

  it('is charged a request per minute, per twenty calls, per write, and per call with an invalid page name', async () => {
    const clock = createClock()
    const { get } = await startNode({ dashboard: files, rates: { anonymous: 100 } }, undefined, { clock })
    const read = async (page: string) => remaining(await get('/packs', name(page)))
    expect([await read('one'), await read('one')]).toEqual([99, 99])
    clock.advance(60_000)
    for (const left of [98, 97]) for (let call = 1; call <= 20; call += 1) expect(await read('one')).toBe(left)
    expect(await read('one')).toBe(96)
    const change = await get('/agents', { method: 'POST', ...name('one') })
    expect(remaining(change)).toBe(95)
    for (const [index, page] of ['x y', 'x'.repeat(65), '..'].entries()) expect(await read(page)).toBe(94 - index)
  })

  it('can make no calls after its own request was refused', async () => {
    const { node, get } = await startNode({ dashboard: files, rates: { anonymous: 1 } })
    // At once, as a page sends its first calls.
    const read = async (...pages: string[]) =>
      (await Promise.all(pages.map((page) => get('/packs', name(page))))).map(({ status }) => status)
    expect(await read('one', 'one', 'one')).toEqual([200, 200, 200])
    const refused = [429, 429, 429]
    expect(await read('two', 'two', 'two')).toEqual(refused)
    expect(await read('two', 'three', 'three')).toEqual(refused)
    // Nor does a document that was refused.
    expect((await fetch(`${node.url}/packs`)).status).toBe(429)
    expect(await read('four', 'four', 'four')).toEqual(refused)
    expect(await read('one')).toEqual([200])
  })

  it('cannot bypass the limit of an API key, of guessed keys, or of other callers', async () => {
    const { get, key } = await startNode({ dashboard: files, rates: { anonymous: 3, enterprise: 3 } })
    const as = async (token: string) => {
      const response = await get('/packs', name('one', { authorization: `Bearer ${token}` }))
      return [response.status, remaining(response)]
    }
    expect([await as(key), await as(key), await as(key), await as(key)]).toEqual([
      [200, 2],
      [200, 1],
      [200, 0],
      [429, 0],
    ])
    expect([await as('ssk_guess'), await as('ssk_guess')]).toEqual([
      [401, 2],
      [401, 1],
    ])
    expect(remaining(await get('/packs', name('one')))).toBe(0)
  })
})
