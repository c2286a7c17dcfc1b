import { guest } from '@skillstead/core'
import { partsOf, withParts } from '@skillstead/core/internal'
import { createMcpServer, localCatalogue } from '@skillstead/gateways/mcp'
import type { KyselyPlugin } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { SkillsClient, bearer, callTool, connectTo, refusalOf, startMcp } from '../support/mcp-harness.ts'
import { sampleOf } from '../support/security-samples.ts'

describeDatabases('the skills extension of MCP', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({
      skillMd: skillMd('pdf', { description: 'Reads and fills PDF forms.', body: '# PDF\n\nOpen the file.\n' }),
      files: [
        { path: 'scripts/fill form.py', content: 'print("ä")\n' },
        { path: 'odd/50%2f #1!.md', content: 'Odd.\n' },
        { path: 'logo.png', content: Buffer.from([0x89, 0x50, 0xff, 0x00]).toString('base64'), encoding: 'base64' },
      ],
    })
    await alice.api.publishSkill({ skillMd: skillMd('secret', { description: 'PDF secrets.' }), visibility: 'private' })
    await alice.api.createPack({ name: 'Papers', description: 'For paper.', skills: ['pdf', 'alice/secret'] })
  })

  it('serves skills with digests by which a host can verify the files', async () => {
    const mcp = await startMcp(test.registry)
    for (const mode of ['auto', 'legacy', 'pinned'] as const) {
      const host = new SkillsClient(await mcp.connect(mode))
      expect(host.supported).toBe(true)
      const { skills } = await host.list()
      expect(skills.map(({ uri }) => uri)).toEqual(['skill://alice/pdf/SKILL.md'])
      const { skill } = await host.get('skill://alice/pdf/SKILL.md')
      expect(skill).toEqual(skills[0])
      expect(skill.frontmatter).toEqual({ name: 'pdf', description: 'Reads and fills PDF forms.' })
      const { files } = await test.api().getSkill({ name: 'alice/pdf' })
      expect(skill.resources).toEqual(
        files.map(({ path, digest, size }) => ({
          uri: `skill://alice/pdf/${path.split('/').map(encodeURIComponent).join('/')}`,
          digest,
          size,
        })),
      )
      for (const { uri } of skill.resources as { uri: string }[]) {
        expect(await host.read(skill, uri), uri).toMatchObject({ verified: true })
      }
    }
  })

  it('returns the same error -32602 for missing and private skills', async () => {
    const mcp = await startMcp(test.registry)
    for (const mode of ['auto', 'legacy'] as const) {
      const client = await mcp.connect(mode)
      const host = new SkillsClient(client)
      const absent = await refusalOf(host.get('skill://alice/absent/SKILL.md'))
      const hidden = await refusalOf(host.get('skill://alice/secret/SKILL.md'))
      expect(absent.code).toBe(-32602)
      expect(hidden).toEqual({ ...absent, message: absent.message.replace('absent', 'secret') })
      for (const uri of [
        'skill://alice/pdf',
        'skill://alice/pdf/scripts/fill%20form.py',
        'skill://alice/pdf/../secret/SKILL.md',
        'skill://alice/pdf/%2e%2e/secret/SKILL.md',
        'skill://alice/pdf%2Fsecret/SKILL.md',
        'skill://ALICE/pdf/SKILL.md',
        'skill://alice/pdf/SKILL.md?x=1',
        'skill://alice/%E0%A4%A/SKILL.md',
        'skill:///etc/passwd/SKILL.md',
        'file:///etc/passwd',
        `skill://alice/${'x'.repeat(100_000)}/SKILL.md`,
      ]) {
        expect((await refusalOf(host.get(uri))).code, uri.slice(0, 80)).toBe(-32602)
      }
      for (const uri of [
        'skill://alice/secret/SKILL.md',
        'skill://alice/pdf/absent.md',
        'skill://alice/pdf/..%2fsecret%2fSKILL.md',
        'skill://alice/pdf/%00',
        'file:///etc/passwd',
      ]) {
        const refusal = await refusalOf(client.readResource({ uri }))
        expect(refusal.code, uri).toBe(-32602)
      }
      expect((await refusalOf(host.list({ cursor: 'x' }))).code).toBe(-32602)
      expect((await refusalOf(client.callTool({ name: 'delete_skill', arguments: {} }))).code).toBe(-32602)
    }
  })

  it('lists skills in pages, and omits skills that hosts would reject but that the tools find', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    for (const name of ['one', 'two', 'three']) await carol.api.publishSkill({ skillMd: skillMd(name) })
    await carol.api.publishSkill({ name: 'bare', description: 'No frontmatter.', skillMd: '# Bare\n' })
    await carol.api.publishSkill({
      skillMd: '---\nname: Big Name\ndescription: Another name.\n---\nText.\n',
      normalizeName: true,
    })
    await carol.api.publishSkill({ skillMd: skillMd('long', { description: 'w'.repeat(1025) }) })
    await carol.api.publishSkill({ skillMd: '---\nname: colon\ndescription: Use: a colon\n---\nText.\n' })
    await carol.api.publishSkill({ skillMd: '---\nname: nested\ndescription: D\nmetadata:\n  a: [1]\n---\nText.\n' })
    // With the registry at hand, and by the calls that a client far away makes.
    for (const catalogue of [localCatalogue(other.registry, guest), undefined]) {
      const client = await connectTo(createMcpServer(other.api(), { catalogue, pageSize: 3 }))
      const host = new SkillsClient(client)
      const first = await host.list({ cursor: '1' })
      const listed = [first, ...(first.nextCursor ? [await host.list({ cursor: first.nextCursor })] : [])]
      expect(listed.at(-1)!.nextCursor).toBeUndefined()
      expect(first.skills.length, 'a page is filled').toBeGreaterThanOrEqual(3)
      const uris = listed.flatMap(({ skills }) => skills.map(({ uri }) => uri))
      expect(uris.toSorted()).toEqual(['one', 'three', 'two'].map((name) => `skill://carol/${name}/SKILL.md`))
      const resources: string[] = []
      for (let cursor: string | undefined = '1'; cursor !== undefined;) {
        const page: { resources: { uri: string }[]; nextCursor?: string } = await client.listResources({ cursor })
        resources.push(...page.resources.map(({ uri }) => uri))
        cursor = page.nextCursor
      }
      expect(resources).toHaveLength(8)
      expect((await host.list()).skills.map(({ uri }) => uri)).toEqual(uris)
      expect(await host.list({ cursor: '99' })).toMatchObject({ skills: [] })
      for (const name of ['bare', 'big-name', 'long', 'nested']) {
        await expect(host.get(`skill://carol/${name}/SKILL.md`), name).rejects.toMatchObject({ code: -32602 })
      }
      expect((await callTool(client, 'search_skills', { query: 'frontmatter' })).value).toMatchObject({
        skills: [{ fullName: 'carol/bare' }],
      })
    }
  })

  it('ends a page of the list after about a megabyte, and continues with the next skill', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    const names = Array.from({ length: 40 }, (_, i) => `skill-${i}`)
    const metadata = `metadata:\n  notes: ${'w'.repeat(60_000)}`
    for (const name of names) {
      const document = `---\nname: ${name}\ndescription: About ${name}.\n${metadata}\n---\nText.\n`
      await carol.api.publishSkill({ skillMd: document })
    }
    const mcp = await startMcp(other.registry)
    const host = new SkillsClient(await mcp.connect('auto'))
    const listed: string[] = []
    const sizes: number[] = []
    for (let cursor: string | undefined = '1'; cursor !== undefined;) {
      const page: { skills: { uri: string }[]; nextCursor?: string } = await host.list({ cursor })
      listed.push(...page.skills.map(({ uri }) => uri))
      sizes.push(JSON.stringify(page).length)
      cursor = page.nextCursor
    }
    expect(listed.toSorted()).toEqual(names.map((name) => `skill://carol/${name}/SKILL.md`).toSorted())
    expect(Math.max(...sizes)).toBeLessThan(2_000_000)
  })

  it('does not list dangerous or flagged skills, but returns them when requested by name', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    for (const verdict of ['safe', 'caution', 'dangerous'] as const) {
      await carol.api.publishSkill({ skillMd: sampleOf(verdict, verdict) })
    }
    await carol.api.publishSkill({ skillMd: skillMd('marked') })
    await other.admin.api.moderateSkill({ name: 'carol/marked', state: 'flagged', reason: 'Because.' })
    const client = await (await startMcp(other.registry)).connect()
    const host = new SkillsClient(client)
    const listed = ['skill://carol/caution/SKILL.md', 'skill://carol/safe/SKILL.md']
    expect((await host.list()).skills.map(({ uri }) => uri).toSorted()).toEqual(listed)
    expect((await client.listResources()).resources.map(({ uri }) => uri).toSorted()).toEqual(listed)
    for (const name of ['dangerous', 'marked']) {
      const uri = `skill://carol/${name}/SKILL.md`
      expect((await host.get(uri)).skill.uri).toBe(uri)
    }
    // From afar the verdict is known, but not what an administrator thinks.
    const far = await connectTo(createMcpServer(other.api()))
    expect((await new SkillsClient(far).list()).skills.map(({ uri }) => uri).toSorted()).toEqual([
      listed[0],
      'skill://carol/marked/SKILL.md',
      listed[1],
    ])
  })

  it('lists many skills with at most two more queries for every ten skills', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    const publish = (name: string) =>
      carol.api.publishSkill({
        skillMd: skillMd(name),
        files: [{ path: 'more.md', content: name }],
        visibility: 'private',
      })
    let queries = 0
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries += 1
        return result
      },
    }
    const database = {
      ...partsOf(other.registry).database,
      read: partsOf(other.registry).database.read.withPlugin(counter),
    }
    const caller = await other.registry.getCaller('carol')
    const listedWith = async (): Promise<number> => {
      const catalogue = localCatalogue(withParts(other.registry, { database }), caller)
      const client = await connectTo(createMcpServer(other.api(), { catalogue }))
      queries = 0
      const { skills } = await new SkillsClient(client).list()
      for (const { resources } of skills) expect(resources).toHaveLength(2)
      return skills.length
    }
    await publish('first')
    expect(await listedWith()).toBe(1)
    const queriesForOne = queries
    for (let number = 0; number < 20; number++) await publish(`later-${number}`)
    expect(await listedWith()).toBe(21)
    expect(queries).toBeLessThanOrEqual(queriesForOne + 4)
  })

  it('reports the new owner of a transferred skill, and the takedown of a removed skill', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    const dave = await other.makeUser('dave')
    for (const name of ['moving', 'disputed']) await carol.api.publishSkill({ skillMd: skillMd(name) })
    await carol.api.transferSkill({ name: 'moving', newOwner: 'dave' })
    await dave.api.acceptTransfer({ name: 'carol/moving' })
    const host = new SkillsClient(await (await startMcp(other.registry)).connect())
    await expect(host.get('skill://carol/moving/SKILL.md')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('skill://dave/moving/SKILL.md'),
    })
    expect((await host.get('skill://dave/moving/SKILL.md')).skill.uri).toBe('skill://dave/moving/SKILL.md')
    const { id } = await other.api().submitDmca({
      skillName: 'carol/disputed',
      claimantName: 'C',
      claimantEmail: 'c@example.com',
      workDescription: 'Mine.',
      goodFaith: true,
      accuracy: true,
      signature: 'C',
    })
    await other.admin.api.updateDmca({ id, status: 'under_review' })
    await other.admin.api.updateDmca({ id, status: 'removed' })
    await expect(host.get('skill://carol/disputed/SKILL.md')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('takedown'),
    })
    expect((await host.list()).skills.map(({ uri }) => uri)).toEqual(['skill://dave/moving/SKILL.md'])
  })

  it('counts only reads of SKILL.md and full loads as downloads, and names the client', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('counted'), files: [{ path: 'more.md', content: 'More.' }] })
    const clients: (string | undefined)[] = []
    const counters = Object.create(partsOf(other.registry).counters, {
      countDownload: {
        value: (...[skill, by]: Parameters<ReturnType<typeof partsOf>['counters']['countDownload']>) => {
          clients.push(by?.client)
          // Without the address, every read counts.
          partsOf(other.registry).counters.countDownload(skill, { client: by?.client })
        },
      },
    })
    const mcp = await startMcp(withParts(other.registry, { counters }))
    const downloads = async () => {
      await partsOf(other.registry).counters.flush()
      return (await other.api().getSkill({ name: 'counted' })).downloads
    }
    const client = await mcp.connect()
    const host = new SkillsClient(client)
    const [skill] = (await host.list()).skills
    await host.read(skill!, 'skill://carol/counted/more.md')
    await callTool(client, 'search_skills', { query: 'counted' })
    for (const level of ['metadata', 'contract', 'summary']) {
      await callTool(client, 'load_skill', { name: 'counted', level })
    }
    await client.listResources()
    expect(await downloads()).toBe(0)
    await host.read(skill!)
    expect(await downloads()).toBe(1)
    await callTool(client, 'load_skill', { name: 'counted' })
    expect(await downloads()).toBe(2)
    const owner = await mcp.connect('auto', bearer(carol))
    await callTool(owner, 'load_skill', { name: 'counted' })
    expect(await downloads()).toBe(2)
    const named = await mcp.connect('legacy', { 'x-skillstead-client': 'named' })
    await callTool(named, 'load_skill', { name: 'counted' })
    expect(clients).toEqual(['test-agent', 'test-agent', 'named'])
  })
})
