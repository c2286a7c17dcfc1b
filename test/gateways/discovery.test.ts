import { partsOf, withParts } from '@skillstead/core/internal'
import { readArchiveFiles } from '@skillstead/skill-format/archives'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { folder, serve } from '../support/discovery-acts.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sendRaw } from '../support/server-harness.ts'

const schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const file = { path: 'scripts/go.sh', content: 'echo go\n' }

describeDatabases('the discovery indexes', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await alice.api.publishSkill({ skillMd: skillMd('pdf'), files: [file] })
    await alice.api.publishSkill({ skillMd: skillMd('pdf', { body: 'Newer.' }), files: [file] })
    await alice.api.publishSkill({ skillMd: skillMd('notes') })
    await bob.api.publishSkill({ skillMd: skillMd('notes', { description: 'Other notes.' }) })
    await bob.api.publishSkill({ skillMd: skillMd('tables') })
    const skills = ['bob/tables', { name: 'alice/pdf', version: '1.0.0' }, 'bob/notes', 'alice/notes']
    await bob.api.createPack({ name: 'Basics', description: '', skills })
  })

  it('list the skill that the URL names, with the URL of its download', async () => {
    const installer = await serve(test)
    const response = await installer.ask('/alice/notes')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/)
    const common = { name: 'notes', description: 'What notes does.', digest }
    expect(await response.json()).toEqual({
      $schema: schema,
      skills: [{ ...common, type: 'skill-md', url: 'notes-1.0.0.md' }],
    })
    const { skills } = await installer.index('/alice/pdf')
    expect(skills).toMatchObject([{ name: 'pdf', type: 'archive', url: 'pdf-1.0.1.zip' }])
  })

  it("exist for an owner, a skill, a version, a pack, and at the root for the operator's pack", async () => {
    const installer = await serve(test, { discoveryPack: 'basics' })
    const urls = async (scope: string) => (await installer.index(scope)).skills.map(({ url }) => url)
    expect(await urls('/alice')).toEqual(['notes-1.0.0.md', 'pdf-1.0.1.zip'])
    expect(await urls('/alice/pdf')).toEqual(['pdf-1.0.1.zip'])
    expect(await urls('/alice/pdf@1.0.0')).toEqual(['pdf-1.0.0.zip'])
    // In the curator's order; of two skills with one name, installers would keep the last.
    const pack = ['bob/tables-1.0.0.md', 'alice/pdf-1.0.0.zip', 'bob/notes-1.0.0.md']
    expect(await urls('/packs/basics')).toEqual(pack)
    expect(await urls('')).toEqual(pack)
    expect((await installer.index('/packs/basics')).skills[2]!.description).toBe('Other notes.')
  })

  it("accept the skill's name, which `skills find` appends, and `latest` instead of a version", async () => {
    const installer = await serve(test)
    const plain = await installer.index('/alice/pdf')
    expect(await installer.index('/alice/pdf@pdf')).toEqual(plain)
    expect(await installer.index('/alice/pdf@latest')).toEqual(plain)
    for (const scope of [
      '/alice/pdf@notes',
      '/alice/pdf@1',
      '/alice/pdf@9.9.9',
      '/alice/pdf@',
      '/alice/pdf@1.0.0@1.0.0',
    ])
      expect(await installer.names(scope), scope).toBe(404)
  })

  it('list files with their digests, the same on every node', async () => {
    const [one, other] = [await serve(test, { discoveryPack: 'basics' }), await serve(test)]
    for (const scope of ['', '/packs/basics', '/alice', '/alice/pdf', '/alice/pdf@1.0.0']) {
      const response = await one.download(scope, 'pdf')
      expect(response.status, scope).toBe(200)
      const zip = new Uint8Array(await response.arrayBuffer())
      const paths = (await readArchiveFiles(zip, 'zip')).map(({ path }) => path)
      expect(paths).toEqual(['SKILL.md', 'scripts/go.sh'])
    }
    expect(await (await one.download('/alice', 'notes')).text()).toBe(skillMd('notes'))
    expect(await other.index('/alice/pdf')).toEqual(await one.index('/alice/pdf'))
    // Read from the database again, as after a restart.
    const again = await open({ at: test.location })
    expect(await (await serve(again)).index('/alice/pdf')).toEqual(await one.index('/alice/pdf'))
  })

  it('support HEAD and If-None-Match for indexes and files, and return 405 for other methods', async () => {
    const installer = await serve(test)
    for (const path of [`/alice/pdf${folder}/index.json`, `/alice/pdf${folder}/pdf-1.0.1.zip`]) {
      const full = await installer.get(path)
      const head = await installer.get(path, { method: 'HEAD' })
      expect(head.status).toBe(200)
      for (const name of ['etag', 'content-type', 'content-length', 'cache-control'])
        expect(head.headers.get(name), name).toBe(full.headers.get(name))
      const etag = full.headers.get('etag')!
      const known = await installer.get(path, { headers: { 'if-none-match': etag } })
      expect(known.status).toBe(304)
      expect(known.headers.get('etag')).toBe(etag)
      const posted = await installer.get(path, { method: 'POST' })
      expect(posted.status).toBe(405)
      expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    }
  })

  it('serve files that caches must revalidate, browsers save, and no page can embed', async () => {
    const installer = await serve(test)
    const { headers } = await installer.download('/alice/pdf', 'pdf')
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="pdf-1.0.1.zip"',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    })
  })

  it('return 404 as JSON if there is nothing to install, so that no HTML page is mistaken for a skill', async () => {
    const installer = await serve(test)
    await alice.api.createPack({ name: 'Empty', description: '', skills: [] })
    await test.makeUser('carol')
    for (const scope of [
      '',
      '/unknown-user',
      '/carol',
      '/alice/nothing',
      '/packs/none',
      '/packs/empty',
      '/packs',
      '/t',
      '/api/v1',
    ]) {
      const response = await installer.ask(scope)
      expect(response.status, scope).toBe(404)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({ code: 'not_found' })
    }
    // The other version of the format, and the URL itself, which installers download as a last resort.
    for (const path of ['/alice/nothing/.well-known/skills/index.json', '/.well-known/skills/index.json', '/alice/pdf'])
      expect((await installer.get(path)).headers.get('content-type'), path).toBe('application/problem+json')
    const missing = await serve(test, { discoveryPack: 'not-there' })
    expect(await missing.names('')).toBe(404)
  })

  it('reject addresses that are malformed or contain NUL characters', async () => {
    const installer = await serve(test)
    for (const scope of ['/a%00b', '/alice/pdf%00', '/packs/a%00', '/t/a%00', '/%ff']) {
      const response = await installer.ask(scope)
      expect([scope, response.status]).toEqual([scope, 400])
      expect(await response.json()).toMatchObject({ code: 'invalid_request' })
    }
  })

  it('serve only the files that they list', async () => {
    const installer = await serve(test, { discoveryPack: 'basics' })
    await alice.api.publishSkill({ skillMd: skillMd('apart') })
    const none = [
      `/alice/pdf${folder}/pdf-1.0.1.md`,
      `/alice/pdf${folder}/pdf-9.9.9.zip`,
      `/alice/pdf${folder}/notes-1.0.0.md`,
      `/alice/pdf${folder}/pdf-1.0.01.zip`,
      `/alice${folder}/tables-1.0.0.md`,
      `/alice${folder}/pdf.zip`,
      `/alice${folder}/..%2fpdf-1.0.1.zip`,
      `/packs/none${folder}/alice/pdf-1.0.0.zip`,
      `/packs/basics${folder}/alice/apart-1.0.0.md`,
      `${folder}/alice/apart-1.0.0.md`,
      `${folder}/alice%2Fpdf/pdf-1.0.0.zip`,
    ]
    for (const path of none) expect((await installer.get(path)).status, path).toBe(404)
    expect((await installer.get(`/alice/%ff${folder}/pdf-1.0.1.zip`)).status).toBe(400)
  })

  it('count downloads of files per client program, but no index, HEAD, 304 or update check', async () => {
    const installer = await serve(test)
    await alice.api.publishSkill({ skillMd: skillMd('counted'), files: [file] })
    const scope = '/alice/counted'
    const downloads = async () => {
      await partsOf(test.registry).counters.flush()
      return (await test.api().getSkill({ name: 'alice/counted' })).downloads
    }
    const { headers } = await installer.download(scope, 'counted', { method: 'HEAD' })
    await installer.download(scope, 'counted', { headers: { 'if-none-match': headers.get('etag')! } })
    await installer.download(scope, 'counted', { headers: { 'x-skills-update-check': '1' } })
    await installer.ask(scope, { headers: { 'x-skills-update-check': '1' } })
    expect(await downloads()).toBe(0)
    await installer.download(scope, 'counted')
    expect(await downloads()).toBe(1)
  })

  it('report which program downloaded a file', async () => {
    const clients: (string | undefined)[] = []
    const countDownload = (_: unknown, by?: { client?: string }) => void clients.push(by?.client)
    const { counters: own } = partsOf(test.registry)
    const counters = { countDownload, flush: () => own.flush(), stop: () => own.stop() }
    const installer = await serve({ ...test, registry: withParts(test.registry, { counters }) })
    const ask = (headers: Record<string, string>) => installer.download('/alice/pdf', 'pdf', { headers })
    await ask({ 'user-agent': 'node' })
    await ask({ 'user-agent': 'node', 'x-skillstead-client': 'my-installer' })
    expect(clients).toEqual(['node', 'my-installer'])
  })

  it('redirect requests for a transferred skill to its new owner', async () => {
    const installer = await serve(test)
    await alice.api.publishSkill({ skillMd: skillMd('moved'), files: [file] })
    await alice.api.createPack({ name: 'Moving', description: '', skills: ['alice/moved'] })
    await alice.api.transferSkill({ name: 'alice/moved', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/moved' })
    const moves = {
      [`/alice/moved${folder}/index.json`]: `/bob/moved${folder}/index.json`,
      [`/alice/moved@1.0.0${folder}/index.json`]: `/bob/moved%401.0.0${folder}/index.json`,
      [`/alice/moved@moved${folder}/index.json`]: `/bob/moved${folder}/index.json`,
      [`/alice/moved${folder}/moved-1.0.0.zip`]: `/bob/moved${folder}/moved-1.0.0.zip`,
      [`/alice${folder}/moved-1.0.0.zip`]: `/bob${folder}/moved-1.0.0.zip`,
      [`/packs/moving${folder}/alice/moved-1.0.0.zip`]: `/packs/moving${folder}/bob/moved-1.0.0.zip`,
    }
    for (const [from, to] of Object.entries(moves)) {
      const response = await installer.get(from)
      expect(response.status, from).toBe(308)
      expect(response.headers.get('location')).toBe(to)
      expect((await installer.get(to)).status, to).toBe(200)
    }
    expect((await installer.index('/packs/moving')).skills[0]!.url).toBe('bob/moved-1.0.0.zip')
    expect(await installer.names('/alice')).not.toContain('moved')
  })

  it('are returned by `/api/search` in the form of `skills find`, with URLs to install from', async () => {
    const installer = await serve(test, { publicUrl: 'https://skills.example.com/' })
    const find = async (query: string) => (await (await installer.get(`/api/search?${query}`)).json()) as object
    expect(await find('q=tables&limit=5')).toEqual({
      skills: [
        {
          id: 'bob/tables',
          skillId: 'tables',
          name: 'tables',
          installs: 0,
          source: 'https://skills.example.com/bob/tables',
        },
      ],
    })
    expect(await find('q=notes&owner=bob')).toMatchObject({ skills: [{ id: 'bob/notes' }] })
    expect(await find('q=nothing-at-all')).toEqual({ skills: [] })
    const refused = await installer.get('/api/search?q=notes&limit=many')
    expect(await refused.json()).toMatchObject({ status: 400, errors: [{ path: 'limit' }] })
  })

  it('use the host of the request only if it is local, and otherwise return URLs without a host', async () => {
    const installer = await serve(test)
    const port = Number(new URL(installer.url).port)
    const sourceFor = async (host: string) => {
      const forwarded = 'X-Forwarded-Host: evil.example~Forwarded: host=evil.example'
      const answer = await sendRaw(
        port,
        `GET /api/search?q=tables HTTP/1.1~Host: ${host}~${forwarded}~Connection: close~~`,
      )
      expect(answer).not.toContain('evil.example')
      return /"source":"([^"]*)"/.exec(answer)?.[1]
    }
    expect(await sourceFor(`127.0.0.1:${port}`)).toBe(`${installer.url}/bob/tables`)
    expect(await sourceFor('localhost:8080')).toBe('http://localhost:8080/bob/tables')
    expect(await sourceFor('evil.example')).toBe('/bob/tables')
    expect(await sourceFor('127.0.0.1.evil.example')).toBe('/bob/tables')
  })
})
