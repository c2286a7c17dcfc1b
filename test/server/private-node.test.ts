import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { type ListeningNode, listenNode } from '@skillstead/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openNode } from '../../packages/server/src/node.ts'
import { type Visit, visited, type VisitedSkill } from '../support/gateway-visits.ts'
import { openRegistry } from '../support/open-registry.ts'
import { makePlace, type Place } from '../support/places.ts'
import { sendRaw } from '../support/server-harness.ts'
import { steady } from '../support/steady.ts'

/** In every text of the registry. */
const mark = 'zqmark'
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The routes that guests of a private node reach, with the methods that are not answered 401. */
const open: Readonly<Record<string, readonly string[]>> = {
  // Monitors.
  ...Object.fromEntries(['/healthz', '/readyz', '/metrics'].map((path) => [path, methods])),
  // The files of the dashboard. Its pages, which all are one file without data, are found by their content.
  '/assets/:file': methods,
  '/licenses.md': methods,
  // The documentation, which is the same on every node.
  '/docs/guides/**': methods,
  '/robots.txt': methods,
  // The sign-in of the dashboard, the first user, and the sign-in of programs.
  '/api/v1/session': ['GET', 'HEAD', 'OPTIONS'],
  '/api/v1/setup': ['GET', 'HEAD', 'POST', 'OPTIONS'],
  '/.well-known/clawhub.json': methods,
  '/.well-known/clawdhub.json': methods,
  '/api/cli/device/code': methods,
  '/api/cli/device/token': methods,
}
const otherMd = '---\nname: zqother\ndescription: Only for guests with the link.\n---\n# Other\n\nDo it.\n'
const page = 'The page of the dashboard.'
const dashboard = new Map(
  Object.entries({ 'index.html': page, 'licenses.md': '', 'assets/app.js': '' }).map(([path, text]) => {
    return [path, () => Buffer.from(text)]
  }),
)

describe('a guest of a private node', () => {
  let place: Place
  let registry: Registry
  let node: ListeningNode
  /** All routes but those of share links. */
  let patterns: readonly string[]
  const pages = new Set<string>()
  let key: string
  let skill: VisitedSkill
  /** The token of a share link of another skill. */
  let otherShare: string

  beforeAll(async () => {
    place = await makePlace('SQLite')
    registry = await openRegistry(place.location)
    const options = { ...steady, requireKey: true, discoveryPack: `${mark}-pack`, dashboard, graceMs: 100 }
    patterns = [...openNode(registry, options).patterns].filter((pattern) => !pattern.startsWith('/t/'))
    node = await listenNode(registry, { port: 0, ...options })
    const system = localApi(registry, systemCaller)
    key = (await system.createUser({ username: mark, plan: 'enterprise' })).key
    await system.createUser({ username: `${mark}-bob`, plan: 'enterprise' })
    const ann = localApi(registry, await registry.getCaller(mark))
    const bob = localApi(registry, await registry.getCaller(`${mark}-bob`))
    for (const name of [`${mark}-public`, `${mark}-moved`]) {
      const skillMd = `---\nname: ${name}\ndescription: All about ${mark}.\n---\n# ${mark}\n\nDo it.\n`
      await ann.publishSkill({ skillMd, version: '1.0.0', files: [{ path: 'notes/more.txt', content: `${mark}\n` }] })
    }
    await ann.createPack({ name: mark, slug: `${mark}-pack`, description: mark, skills: [`${mark}-public`] })
    const { token } = await ann.createShare({ name: `${mark}-public` })
    await ann.publishSkill({ skillMd: otherMd, version: '1.0.0', visibility: 'private' })
    otherShare = (await ann.createShare({ name: 'zqother' })).token!
    await ann.transferSkill({ name: `${mark}-moved`, newOwner: `${mark}-bob` })
    await bob.acceptTransfer({ name: `${mark}/${mark}-moved` })
    skill = { owner: mark, name: `${mark}-public`, version: '1.0.0', pack: `${mark}-pack`, share: token! }
    for (const pattern of patterns) if ((await ask(fill(pattern))).body === page) pages.add(pattern)
  })
  afterAll(async () => {
    await node?.close()
    await registry?.close()
    await place?.remove()
  })

  const isOpen = (pattern: string, method: string) => pages.has(pattern) || open[pattern]?.includes(method) === true

  /** An answer without what is random in it. */
  async function ask(path: string, init: RequestInit = {}) {
    const response = await fetch(node.url + path, { redirect: 'manual', ...init })
    const body = await response.text()
    const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|.*ratelimit.*)$/.test(name))
    const id = response.headers.get('x-request-id') ?? '-'
    const text = `${headers.map((header) => header.join(': ')).join('\n')}\n\n${body}`.replaceAll(id, 'ID')
    return { status: response.status, text, body }
  }

  /** The address of a route, with names that exist. */
  function fill(pattern: string): string {
    const values: Record<string, string> = {
      owner: mark,
      username: mark,
      slug: `${mark}-pack`,
      version: '1.0.0',
      reference: '1.0.0',
      token: skill.share,
      repository: pattern.includes(':owner') ? `${skill.name}.git` : `${mark}.git`,
      file: `${skill.name}-1.0.0.zip`,
      holder: mark,
      member: skill.name,
      rest: 'SKILL.md',
      repo: skill.name,
      skill: skill.name,
      name: pattern.includes(':owner') ? skill.name : `${mark}%2F${skill.name}`,
      path: pattern.startsWith('/npm') ? `@${mark}/${skill.name}` : 'notes/more.txt',
    }
    return pattern.replaceAll(/(?:\*\*)?:([A-Za-z]+)|\*\*/g, (_, name?: string) => values[name ?? ''] ?? `${mark}-x`)
  }

  /** Sends each request for names that exist and for names that do not; returns the answers that differ or tell a name. */
  async function findFaults(requests: readonly { path: string; init?: RequestInit; isOpen?: boolean }[]) {
    const faults: string[] = []
    const left = requests.toReversed()
    const work = async () => {
      for (let request = left.pop(); request; request = left.pop()) {
        const { path, init = {}, isOpen: isPublic = false } = request
        const other = path.replaceAll(mark, 'zqnone')
        const body = typeof init.body === 'string' ? { body: init.body.replaceAll(mark, 'zqnone') } : {}
        const known = await ask(path, init)
        const unknown = path === other && init.body === undefined ? known : await ask(other, { ...init, ...body })
        const name = `${init.method ?? 'GET'} ${path} ${JSON.stringify(init.headers ?? {})}`
        if (!isPublic && known.status !== 401 && init.method !== 'OPTIONS') faults.push(`${name}: ${known.status}`)
        if (known.text.includes(mark)) faults.push(`${name} tells ${known.text}`)
        if (known.status !== unknown.status || known.text !== unknown.text) faults.push(`${name} differs`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    return faults
  }

  it('gets 401 from every route, whether the named object exists or not, except health checks and sign-in', async () => {
    expect(patterns.length).toBeGreaterThan(200)
    const requests = patterns.flatMap((pattern) =>
      methods.map((method) => ({ path: fill(pattern), init: { method }, isOpen: isOpen(pattern, method) })),
    )
    expect(await findFaults(requests)).toEqual([])
  })

  it('has no access exception for a route that does not exist', () => {
    expect(Object.keys(open).filter((path) => !patterns.includes(path))).toEqual([])
    expect(pages.size).toBeGreaterThan(10)
  })

  it.each<[string, HeadersInit]>([
    ['a conditional request for a range', { 'if-none-match': '*', range: 'bytes=0-9' }],
    [
      'a browser without a valid session',
      { accept: 'text/html', cookie: 'skillstead-session=sss_none', 'x-skillstead-session': '1' },
    ],
    ['an empty password', { authorization: 'Basic Og==' }],
    [
      'headers of agents, cases and proxies',
      { 'x-agent-token': 'x', 'x-case-token': 'x', 'x-original-url': '/healthz' },
    ],
    ['a page of another site', { origin: 'https://other.example' }],
  ])('learns nothing with %s', async (_, headers) => {
    const walked = patterns.filter((pattern) => !isOpen(pattern, 'GET'))
    // Browsers find the pages of skills and users, which show the sign-in, at shorter addresses too.
    const isPage = (pattern: string) => pattern === '/**' && 'accept' in headers
    const requests = walked.map((pattern) => ({ path: fill(pattern), init: { headers }, isOpen: isPage(pattern) }))
    const faults = await findFaults(requests)
    // Pages of other sites are refused first.
    const isForeign = 'origin' in headers
    expect(isForeign ? faults.filter((fault) => !fault.endsWith(': 403')) : faults).toEqual([])
  })

  it('can read a shared skill with the token of its share link, but no other skill or list', async () => {
    const headers = { 'x-share-token': otherShare }
    const readAs = async (path: string, init: RequestInit = { headers }) => (await ask(path, init)).status
    const base = `/api/v1/skills/${mark}%2Fzqother`
    const reads = ['', '/skill.md', '/archive', '/files/SKILL.md', '/versions', '/versions/1.0.0']
    for (const read of reads) expect(await readAs(base + read), read).toBe(200)
    expect(await readAs(base, { headers, method: 'HEAD' })).toBe(200)
    const { text, body } = await ask(base, { headers })
    expect(text).toContain('cache-control: private, no-store')
    expect(body).toContain('Only for guests with the link.')
    expect(await readAs(`/api/v1/skills/${mark}/zqother`)).toBe(200)
    // Not by a short name, which would tell whose it is; no list, no other skills, and no writes.
    const refused = ['/api/v1/skills/zqother', `${base}/similarity`, `${base}/dependents`, `${base}/forks`]
    for (const path of [...refused, `${base}/reviews`, '/api/v1/skills', '/api/v1/session'])
      expect(await readAs(path), path).toBe(path.endsWith('session') ? 200 : 401)
    expect(await readAs(`${base}/star`, { headers, method: 'PUT' })).toBe(401)
    expect(await readAs(base, { headers, method: 'DELETE' })).toBe(401)
    expect(await readAs(base, { headers: { 'x-share-token': 'ssl_none' } })).toBe(401)
    expect(await readAs(base, {})).toBe(401)
  })

  it('learns nothing with the token of a share link of another skill as a header of the API', async () => {
    const walked = patterns.filter((pattern) => pattern.startsWith('/api/'))
    const headers = { 'x-share-token': otherShare }
    const requests = walked.map((pattern) => ({
      path: fill(pattern),
      init: { headers },
      isOpen: isOpen(pattern, 'GET'),
    }))
    expect(await findFaults(requests)).toEqual([])
  })

  it('gets 401 for responses that a user with a key received, even with the ETags of these responses', async () => {
    const skills = [skill, { ...skill, name: `${mark}-moved` }]
    const visits = skills
      .flatMap((one) => visited.flatMap(({ paths }) => paths(one)))
      .filter(({ path }) => !path.startsWith('/t/'))
    const authorization = `Bearer ${key}`
    const tagged: { visit: Visit; etag: string }[] = []
    for (const visit of visits) {
      const response = await fetch(node.url + visit.path, toInit(visit, { authorization }))
      await response.arrayBuffer()
      tagged.push({ visit, etag: response.headers.get('etag') ?? '*' })
    }
    expect(tagged.filter(({ etag }) => etag !== '*').length).toBeGreaterThan(30)
    const requests = tagged.flatMap(({ visit, etag }) => [
      { path: visit.path, init: toInit(visit) },
      { path: visit.path, init: toInit(visit, { 'if-none-match': etag }) },
    ])
    expect(await findFaults(requests)).toEqual([])
  })

  it.each([
    '/api/v1/skills/NAME/',
    '//api/v1/skills/NAME',
    '/api/v1//skills/NAME',
    '/api/v1/./skills/NAME',
    '/healthz/../api/v1/skills/NAME',
    '/healthz/..%2fapi/v1/skills/NAME',
    '/healthz%2f..%2fapi%2fv1%2fskills',
    '/assets/../api/v1/skills/NAME',
    '/API/v1/skills/NAME',
    '/api/v1/skills/NAME.',
    '/api/v1/skills/NAME%00',
    '/api/v1/skills/NAME;x=1',
    '/api/v1/skills/%7a%71mark%2Fzqmark-public',
    '/api/v1/skills/OWNER/SHORT/../SHORT',
    'http://localhost/api/v1/skills/NAME',
    'http://localhost/healthz/../api/v1/skills/NAME',
    '/git/OWNER/SHORT.git/info/refs?service=git-upload-pack',
    '/git//OWNER/SHORT.git/info/refs?service=git-upload-pack',
    '/npm/@OWNER%2fSHORT',
    '/npm//@OWNER/SHORT',
    '/v2//OWNER/SHORT/tags/list',
    '/OWNER//.well-known/agent-skills/index.json',
    '/.well-known/../OWNER/.well-known/agent-skills/index.json',
    '/.well-known/clawhub.json/../../clawhub/api/v1/skills/SHORT',
    '/api/cli/device/code/../../../v1/skills/NAME',
  ])('learns nothing from another spelling of an address: %s', async (spelling) => {
    const spell = (word: string) =>
      spelling
        .replaceAll('NAME', `${word}%2F${word}-public`)
        .replaceAll('SHORT', `${word}-public`)
        .replaceAll('OWNER', word)
    const see = async (word: string) => {
      const answer = await sendRaw(
        Number(new URL(node.url).port),
        `GET ${spell(word)} HTTP/1.1~Host: localhost~Connection: close~~`,
      )
      const id = /^x-request-id: (.*)$/im.exec(answer)?.[1]?.trim() ?? '-'
      return answer.replaceAll(id, 'ID').replaceAll(/^(?:date|.*ratelimit.*): .*\r\n/gim, '')
    }
    const [known, unknown] = [await see(mark), await see('zqnone')]
    expect(known).toMatch(/^HTTP\/1\.1 40[01] /)
    expect(known).toBe(unknown)
    expect(known).not.toContain(mark)
  })
})

function toInit({ body, headers }: Visit, more: Record<string, string> = {}): RequestInit {
  return { ...(body !== undefined && { method: 'POST', body }), headers: { ...headers, ...more } }
}
