import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StaticFiles } from '@skillstead/server'
import { localApi } from '@skillstead/core'
import { isUsername, reservedOwners } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { openNode } from '../../packages/server/src/node.ts'
import { pageRoutes } from '../../packages/server/src/pages/page-texts.ts'
import { json, sendRaw, startNode } from '../support/server-harness.ts'

const page = '<!doctype html><title>Skillstead</title><div id="app"></div><noscript>x</noscript>'
const files: StaticFiles = new Map([['index.html', () => Buffer.from(page)]])
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

function open(options: Parameters<typeof startNode>[0] = {}) {
  return startNode({ dashboard: files, ...options })
}

/** What a browser gets. */
async function browse(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { ...html, ...headers }, redirect: 'manual' })
  return { status: response.status, location: response.headers.get('location'), text: await response.text(), response }
}

/** A response without what differs between any two. */
async function toComparable(response: Response) {
  const own = /^(?:date|x-request-id|.*ratelimit.*)$/
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !own.test(name)),
    text: await response.text(),
  }
}

const skillOf = (name: string, description = 'Reads.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`

describe('a short page address, such as /alice/pdf', () => {
  it.each([
    ['/alice/pdf', '/skills/alice/pdf'],
    ['/alice/pdf@1.0.0', '/skills/alice/pdf?version=1.0.0'],
    ['/alice', '/users/alice'],
    ['/alice/', '/users/alice'],
    ['/alice/pdf/', '/skills/alice/pdf'],
    ['/unknown/skill', '/skills/unknown/skill'],
    ['/git/alice/pdf.git', '/skills/alice/pdf'],
    ['/git/alice.git', '/users/alice'],
    ['/git/packs/basics.git', '/packs/basics'],
  ])('leads a browser from %s to %s, and gives programs the same headers as without a dashboard', async (from, to) => {
    const { node } = await open()
    expect(await browse(node.url + from)).toMatchObject({ status: 302, location: to, text: '' })
    const { node: without } = await startNode()
    for (const accept of ['application/json', 'application/zip, */*', 'image/*']) {
      const [own, before] = [node, without].map(({ url }) =>
        fetch(url + from, { headers: { accept }, redirect: 'manual' }),
      )
      const [a, b] = [await own!, await before!]
      expect([a.status, a.headers.get('location'), (await a.json()).code]).toEqual([404, null, 'not_found'])
      expect([...a.headers.keys()]).toEqual([...b.headers.keys()])
    }
  })

  it.each([
    ['HEAD', html.accept],
    ['HEAD', '*/*'],
    ['GET', '*/*'],
    ['GET', ' text/html '],
  ])('leads a program that looks at links to the same page: %s with Accept: %s', async (method, accept) => {
    const { node, api } = await open()
    const ask = async (path: string) => fetch(node.url + path, { method, headers: { accept }, redirect: 'manual' })
    for (const path of ['/alice/pdf', '/alice/pdf/', '/alice']) {
      const { status, headers } = await ask(path)
      expect([status, headers.get('location')]).toEqual([302, path === '/alice' ? '/users/alice' : '/skills/alice/pdf'])
    }
    const { token } = await api.createShare({ name: 'pdf' })
    expect((await ask(`/t/${token}`)).status).toBe(200)
  })

  it.each([
    '/Alice/pdf',
    '/skills/pdf',
    '/packs',
    '/api/v1',
    '/alice/pdf/more/parts',
    '/a..b',
    '/alice%2Fpdf',
    '/%zz',
    '//evil.example',
    '/git/x',
    '/alice/pdf@x',
  ])('is not recognised in the path %s', async (path) => {
    const { node } = await open()
    expect((await browse(node.url + path)).location).toBeNull()
  })

  it('leads to the page below the path of the public URL', async () => {
    const { node } = await open({ publicUrl: 'https://intranet.example/registry' })
    for (const path of ['/alice/pdf', '/registry/alice/pdf'])
      expect((await browse(node.url + path)).location, path).toBe('/registry/skills/alice/pdf')
  })

  it('is the same page at every address of a private node, on which guests sign in', async () => {
    const { node } = await open({ requireKey: true })
    const [known, unknown] = ['/alice/pdf', '/unknown/skill'].map((path) => fetch(node.url + path, { headers: html }))
    const first = await toComparable(await known!)
    expect([first.status, first.text.includes('<div id="app"></div>')]).toEqual([200, true])
    expect(await toComparable(await unknown!)).toEqual(first)
  })

  it('counts as one request of the client IP address', async () => {
    const { node } = await open({ rates: { anonymous: 1 } })
    expect([(await browse(`${node.url}/alice`)).status, (await browse(`${node.url}/alice`)).status]).toEqual([302, 429])
  })

  it.each(['/', '/skills/alice/pdf', '/alice/pdf', '/t/ssl_x', '/account'])(
    'above the request limit returns an error as a page to browsers and as JSON to programs: %s',
    async (path) => {
      const { node } = await open({ rates: { anonymous: 1 } })
      await browse(node.url)
      const { status, text, response } = await browse(node.url + path)
      expect([status, response.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
      expect(text).toContain('<div id="app"></div>')
      expect(text).toMatch(/<noscript><p>Too many requests; try again in \d+ s\./)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      const program = await fetch(node.url + '/account', { headers: { accept: 'application/json' } })
      expect([program.status, program.headers.get('content-type')]).toEqual([429, 'application/problem+json'])
    },
  )
})

/** What a pattern finds in a source file of the app. */
function findInApp(file: string, pattern: RegExp): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../packages/dashboard/src', file), 'utf8')
  return Array.from(text.matchAll(pattern), ([, found]) => found!)
}

/** The paths at which the app shows a page, except the documentation's. */
function listAppPaths(): string[] {
  const [skill, organisation] = ['skill/skill-page.tsx', 'organisations/organisation-page.tsx']
  const sections: Record<string, string[]> = {
    '/:tab?': findInApp(`pages/${skill}`, /^(?: {2}|const \w+: Tab = )\['([a-z]*)', '[A-Z]/gm),
    '/:section?': findInApp(`pages/${organisation}`, /^(?: {2}|const \w+ = )\['([a-z]*)', '[A-Z]/gm),
  }
  const inner = ['account', 'admin'].flatMap((area) => [
    ...findInApp(`pages/${area}/${area}-pages.tsx`, /^ {2}\['(\/[^']+)', '/gm),
    ...findInApp(`pages/${area}/${area}-pages.tsx`, /<Route path="([^"]+)"/g).map((path) => `/${area}${path}`),
  ])
  const outer = findInApp('app.tsx', /^ {2}\[\[([^\]]+)\]/gm)
    .flatMap((paths) => Array.from(paths.matchAll(/'([^']+)'/g), ([, path]) => path!))
    .filter((path) => !/^\/(?:account|admin|docs)(?:\/\*)?$/.test(path))
  return [...outer, ...inner].flatMap((path) => {
    const [last = ''] = /\/:\w+\?$/.exec(path) ?? []
    const names = sections[last] ?? ['']
    return names.map((name) => path.slice(0, path.length - last.length) + (name && `/${name}`))
  })
}

it('the node has a page at exactly the addresses of the app', () => {
  const own = pageRoutes.flatMap(({ path, sections }) =>
    sections ? sections.map((name) => path.replace(/[^/]+$/, name)) : [path],
  )
  expect(own.toSorted()).toEqual(listAppPaths().toSorted())
})

it('no user has the name of a page of the node', async () => {
  const { registry, createUser } = await open()
  const { patterns } = openNode(registry, { dashboard: files, site: { logo: Buffer.from('<svg></svg>') } })
  const names = new Set(Array.from(patterns, (pattern) => pattern.split('/')[1]!))
  expect([...names].filter((name) => isUsername(name) && !reservedOwners.has(name))).toEqual([])
  await expect(createUser('takedowns')).rejects.toThrow('reserved')
})

describe('the page of something that does not exist', () => {
  it.each([
    '/skills/alice/missing',
    '/skills/no-one/pdf',
    '/skills/alice/missing/files',
    '/skills/alice/pdf/bogus',
    '/account/bogus',
    '/account/keys/more',
    '/admin/bogus',
    '/admin/mirrors/a/b',
    '/skills/alice/pdf?version=9.9.9',
    '/skills/Alice/PDF',
    '/skills/%zz/pdf',
    '/skills/alice/%00',
    `/skills/alice/${'x'.repeat(500)}`,
    '/packs/missing',
    '/users/missing',
    '/agents/x:missing',
    '/requests?id=missing',
    '/takedowns/missing',
  ])('is returned with 404 at %s', async (path) => {
    const { node } = await open()
    const { status, text, response } = await browse(node.url + path)
    expect([status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(text).toContain('<div id="app"></div>')
    expect(text).toContain('<meta name="robots" content="noindex">')
    expect(text).not.toMatch(/og:|canonical|missing/)
    expect(text).toContain('<noscript><p>There is no such page, or you may not see it.</p></noscript>')
  })

  it.each([
    '/',
    '/skills/alice/pdf',
    '/skills/alice/pdf/files',
    '/skills/alice/pdf?version=1.0.0',
    '/users/alice',
    '/requests',
    '/packs',
    '/account',
    '/account/webhooks/x',
    '/admin/mirrors/x',
    '/skills/alice/pdf/manage',
    '/skills/alice/pdf/files/',
    '/account/keys/',
    '/account/webhooks/x/',
    '/admin/audit/',
  ])('is not returned for %s', async (path) => {
    const { node } = await open()
    expect((await browse(node.url + path)).status).toBe(200)
  })

  it('is the same for a private skill as for an unknown skill, except to users who may read it', async () => {
    const { node, api, key, createUser, registry } = await open()
    await api.publishSkill({ skillMd: skillOf('secret', 'Hidden words.'), version: '1.0.0', visibility: 'private' })
    await api.publishSkill({ skillMd: skillOf('inside', 'Hidden words.'), version: '1.0.0', visibility: 'internal' })
    const unknown = await toComparable(await fetch(`${node.url}/skills/alice/unknown`, { headers: html }))
    for (const name of ['secret', 'inside'])
      for (const headers of [
        html,
        { ...html, authorization: `Bearer ${key}` },
        { ...html, cookie: 'skillstead-session=x' },
      ])
        expect(await toComparable(await fetch(`${node.url}/skills/alice/${name}`, { headers }))).toEqual(unknown)

    const signIn = async (of: string) => {
      const headers = { authorization: `Bearer ${of}`, 'content-type': 'application/json' }
      const response = await fetch(`${node.url}/api/v1/session`, { ...json({}), headers })
      return response.headers.get('set-cookie')!.split(';')[0]!
    }
    const [owner, other] = [await signIn(key), await signIn(await createUser('bob'))]
    // `fetch` sets some of these headers itself.
    const visit = async (name: string, cookie: string, site = 'none', mode = 'navigate') => {
      const sent = `Cookie: ${cookie}~Sec-Fetch-Site: ${site}~Sec-Fetch-Mode: ${mode}`
      const line = `GET /skills/alice/${name} HTTP/1.1~Host: 127.0.0.1:${node.port}`
      const text = await sendRaw(node.port, `${line}~${sent}~Accept: text/html~Connection: close~~`)
      return { status: Number(text.slice(9, 12)), text: text.replaceAll('skillstead-session', '') }
    }
    const seen = await visit('secret', owner)
    expect(seen.status).toBe(200)
    expect(seen.text, 'previews show nothing private').not.toMatch(/secret|Hidden|og:/)
    expect((await visit('inside', other)).status).toBe(200)
    for (const [cookie, ...how] of [[other], [owner, 'cross-site'], [owner, 'same-site'], [owner, 'none', 'no-cors']])
      expect((await visit('secret', cookie!, ...how)).status).toBe(404)
    const names = localApi(registry)
    await expect(names.getSkill({ name: 'alice/secret' })).rejects.toThrow('secret')
  })

  it('is not returned to guests of a private node, who get the same page at every address', async () => {
    const { node } = await open({ requireKey: true })
    const known = await toComparable(await fetch(`${node.url}/skills/alice/pdf`))
    expect(await toComparable(await fetch(`${node.url}/skills/alice/missing`))).toEqual(known)
    expect([known.status, known.text.includes('Reads PDF')]).toEqual([200, false])
    expect(await (await fetch(`${node.url}/robots.txt`)).text()).toBe('User-agent: *\nDisallow: /\n')
  })

  it('is returned to signed-in users of a private node', async () => {
    const { node, key } = await open({ requireKey: true })
    const signIn = await fetch(`${node.url}/api/v1/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    const cookie = signIn.headers.get('set-cookie')!.split(';')[0]!
    const visit = async (path: string) => {
      const sent = `Cookie: ${cookie}~Sec-Fetch-Site: none~Sec-Fetch-Mode: navigate~Accept: text/html`
      return Number((await sendRaw(node.port, `GET ${path} HTTP/1.1~Host: a~${sent}~Connection: close~~`)).slice(9, 12))
    }
    expect([await visit('/skills/alice/pdf'), await visit('/packs'), await visit('/account')]).toEqual([200, 200, 200])
    for (const path of ['/skills/alice/missing', '/users/missing', '/packs/missing', '/account/bogus', '/a/b/c'])
      expect([path, await visit(path)]).toEqual([path, 404])
    for (const path of ['/docs', '/openapi.json']) {
      expect([path, await visit(path)]).toEqual([path, 200])
      const guest = await browse(node.url + path)
      // The guides tell nothing of the node.
      const status = path === '/docs' ? 200 : 401
      expect([path, guest.status, guest.text.includes('<div id="app"></div>')]).toEqual([path, status, true])
    }
  })

  it('is replaced by a redirect for the former name of a transferred skill', async () => {
    const { node, api, createUser, registry } = await open()
    await createUser('bob', 'enterprise')
    await api.transferSkill({ name: 'alice/pdf', newOwner: 'bob' })
    await localApi(registry, await registry.getCaller('bob')).acceptTransfer({ name: 'alice/pdf' })
    const { status, location } = await browse(`${node.url}/skills/alice/pdf/files?version=1.0.0`)
    expect([status, location]).toEqual([308, '/skills/bob/pdf/files?version=1.0.0'])
  })
})

describe('a share link', () => {
  it('shows browsers the page of the shared skill, and returns JSON to programs', async () => {
    for (const requireKey of [false, true]) {
      const { node, api } = await open({ requireKey })
      await api.publishSkill({ skillMd: skillOf('secret', 'Hidden words.'), version: '1.0.0', visibility: 'private' })
      const { token } = await api.createShare({ name: 'secret' })
      const { status, text, response } = await browse(`${node.url}/t/${token}`)
      expect([status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
      expect(text).toContain('<meta name="skillstead-shared" content="alice/secret">')
      expect(text).toContain('<meta name="robots" content="noindex">')
      expect(text).toContain(`npx skills add ${node.url}/t/${token}`)
      expect(text).not.toContain('og:')
      const head = text.slice(0, text.indexOf('<div id="app">')).replace(/<meta name="skillstead-shared"[^>]*>/, '')
      expect(head, 'previews show nothing private').toContain('<title>Shared skill · Skillstead</title>')
      expect(head).toContain('<meta name="description" content="A skill that its owner shares by this link.">')
      expect(head).not.toMatch(/secret|alice|Hidden/)
      const program = await fetch(`${node.url}/t/${token}`, { headers: { accept: 'application/json' } })
      expect([program.status, program.headers.get('content-type')]).toEqual([
        requireKey ? 401 : 404,
        'application/problem+json',
      ])
      const index = await fetch(`${node.url}/t/${token}/.well-known/agent-skills/index.json`, { headers: html })
      expect(index.headers.get('content-type')).toContain('application/json')
    }
  })

  it.each(['ssl_none', 'x', '%zz', '%00', 'a'.repeat(3000)])(
    'that is invalid returns the page of something that does not exist: %s',
    async (token) => {
      const { node } = await open()
      const { status, text } = await browse(`${node.url}/t/${token}`)
      expect([status, text.includes('skillstead-shared')]).toEqual([404, false])
    },
  )

  it('counts as a request of the client address, so that tokens cannot be guessed', async () => {
    const { node } = await open({ rates: { anonymous: 2 } })
    const statuses = []
    for (const token of ['ssl_a', 'ssl_b', 'ssl_c']) statuses.push((await browse(`${node.url}/t/${token}`)).status)
    expect(statuses).toEqual([404, 404, 429])
  })
})
