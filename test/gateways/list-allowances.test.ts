import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'

const lists = [
  '/npm/@alice/notes',
  '/npm/@alice/notes/latest',
  '/v2/alice/notes/tags/list',
  '/v2/alice/notes/manifests/latest',
  '/apm/v1/packages/alice/notes/versions',
  '/alice/.claude-plugin/marketplace.json',
  '/alice/notes/.well-known/agent-skills/index.json',
]
const archives = ['/npm/@alice/notes/-/notes-1.0.0.tgz', '/apm/v1/packages/alice/notes/versions/1.0.0/download']

describeDatabases('a list of a gateway', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('notes') })
  })

  /** A node for a client whose address has spent nothing, also on a shared database. */
  let clients = 0
  async function serveClient(rates: { readonly files: number; readonly anonymous: number }) {
    const { get } = await serve(test, { rates, trustedProxies: ['127.0.0.1'] })
    const address = `192.0.2.${(clients += 1)}`
    return (path: string, headers: Readonly<Record<string, string>> = {}) =>
      get(path, { headers: { ...headers, 'x-forwarded-for': address } })
  }

  it.each([...lists, ...archives])('is charged to the address as one file, and not as a request: %s', async (path) => {
    const get = await serveClient({ files: 2, anonymous: 1 })
    for (const left of ['1', '0']) {
      const { status, headers } = await get(path)
      expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, left])
    }
    const refused = await get(path)
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([429, '"files";q=2;w=60'])
    expect(await refused.text()).toContain('The operator sets this limit with `--rate-limits files=NUMBER`.')
    expect((await get('/api/v1/skills/alice%2Fnotes')).status).toBe(200)
  })

  it.each(['/npm/-/v1/search?text=notes', '/api/search?q=notes'])(
    'that searches is charged as a request: %s',
    async (path) => {
      const get = await serveClient({ files: 1, anonymous: 1 })
      expect((await get(path)).status).toBe(200)
      const refused = await get(path)
      expect(refused.status).toBe(429)
      expect(await refused.text()).toContain('`--rate-limits anonymous=NUMBER`')
      expect((await get(lists[0]!)).status).toBe(200)
    },
  )

  it('charges a wrong key as a request of the address, not as a file', async () => {
    const get = await serveClient({ files: 100, anonymous: 2 })
    const statuses = []
    for (const path of lists.slice(0, 3)) statuses.push((await get(path, { authorization: 'Bearer ssk_guess' })).status)
    expect(statuses).toEqual([401, 401, 429])
    expect((await get(lists[0]!)).headers.get('x-ratelimit-remaining')).toBe('99')
  })
})
