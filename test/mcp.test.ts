import { beforeAll, expect, it } from 'vitest'
import { skillMd } from './answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from './harness.ts'
import { createMcpServer } from '@skillstead/server/mcp'
import {
  Client,
  InMemoryTransport,
  SkillsClient,
  modes,
  startMcp,
  type McpClient,
  type ToolResult,
} from './mcp-harness.ts'

const toolNames = ['list_packs', 'load_skill', 'report_review', 'search_skills']

describeDatabases('MCP over HTTP', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await alice.api.publishSkill({
      skillMd: skillMd('pdf', { description: 'Reads and fills PDF forms.', body: '# PDF\n\nOpen the file.\n' }),
      files: [
        { path: 'scripts/fill form.py', content: 'print("ä")\n' },
        { path: 'logo.png', content: Buffer.from([0x89, 0x50, 0xff, 0x00]).toString('base64'), encoding: 'base64' },
      ],
    })
    await alice.api.publishSkill({ skillMd: skillMd('secret', { description: 'PDF secrets.' }), visibility: 'private' })
    await alice.api.createPack({ name: 'Papers', description: 'For paper.', skills: ['pdf', 'alice/secret'] })
  })

  it.each([...(Object.keys(modes) as (keyof typeof modes)[]), 'v1'] as const)(
    'is used by the official client (%s): it lists, searches, loads and reads',
    async (mode) => {
      const mcp = await startMcp(test.registry)
      const client = asClient(mode === 'v1' ? await mcp.connectFormer() : await mcp.connect(mode))
      expect((await client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(toolNames)
      const found = await call(client, 'search_skills', { query: 'fill pdf forms' })
      expect(found.isError).toBeFalsy()
      expect(found.structuredContent).toMatchObject({ total: 1, skills: [{ fullName: 'alice/pdf' }] })
      expect(JSON.parse(found.content[0]!.text)).toEqual(found.structuredContent)
      const loaded = await call(client, 'load_skill', { name: 'alice/pdf', level: 'full' })
      expect(loaded.structuredContent).toMatchObject({ level: 'full', metadata: { fullName: 'alice/pdf' } })
      expect(loaded.content[0]!.text).toContain('Open the file.')
      expect((await call(client, 'list_packs')).structuredContent).toMatchObject({
        packs: [{ slug: 'papers', skills: [{ fullName: 'alice/pdf', pinnedVersion: null, note: '' }] }],
        total: 1,
      })
      const { contents } = await client.readResource({ uri: 'skill://alice/pdf/SKILL.md' })
      expect(contents).toEqual([
        {
          uri: 'skill://alice/pdf/SKILL.md',
          mimeType: 'text/markdown',
          text: skillMd('pdf', { description: 'Reads and fills PDF forms.', body: '# PDF\n\nOpen the file.\n' }),
        },
      ])
      expect((await client.listResources()).resources).toEqual([
        {
          uri: 'skill://alice/pdf/SKILL.md',
          name: 'alice/pdf',
          description: 'Reads and fills PDF forms.',
          mimeType: 'text/markdown',
        },
      ])
    },
  )

  it('serves skills whose files a host verifies against their digests', async () => {
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
          uri: `skill://alice/pdf/${path.replace(' ', '%20')}`,
          digest,
          size,
        })),
      )
      for (const { uri } of skill.resources as { uri: string }[]) {
        expect(await host.read(skill, uri), uri).toMatchObject({ verified: true })
      }
    }
  })

  it('answers -32602 for what is not there, also where it is private, and tells neither from the other', async () => {
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

  it('shows a key’s user what only they may see', async () => {
    const mcp = await startMcp(test.registry)
    const own = await mcp.connect('auto', bearer(alice))
    const foreign = await mcp.connect('auto', bearer(bob))
    const namesOf = async (client: McpClient) =>
      ((await call(client, 'search_skills', { query: 'pdf' })).structuredContent!.skills as { fullName: string }[])
        .map(({ fullName }) => fullName)
        .toSorted()
    expect(await namesOf(asClient(own))).toEqual(['alice/pdf', 'alice/secret'])
    expect(await namesOf(asClient(foreign))).toEqual(['alice/pdf'])
    const urisOf = async (client: typeof own) => (await new SkillsClient(client).list()).skills.map(({ uri }) => uri)
    expect((await urisOf(own)).toSorted()).toEqual(['skill://alice/pdf/SKILL.md', 'skill://alice/secret/SKILL.md'])
    expect(await urisOf(foreign)).toEqual(['skill://alice/pdf/SKILL.md'])
    const refused = await call(asClient(foreign), 'load_skill', { name: 'alice/secret' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: "There is no skill 'alice/secret' that you may see." }],
    })
    expect((await call(asClient(own), 'load_skill', { name: 'alice/secret' })).isError).toBeFalsy()
  })

  it('answers mistakes in calls of tools with a sentence, not with an error of the protocol', async () => {
    const client = asClient(await (await startMcp(test.registry)).connect())
    for (const [name, input, words] of [
      ['load_skill', { name: 'alice/absent' }, /no skill 'alice\/absent'/],
      ['load_skill', { name: 'alice/pdf', version: 'new' }, /version/],
      ['load_skill', { name: 'alice/pdf', level: 'everything' }, /level/],
      ['load_skill', {}, /name/],
      ['search_skills', { query: 'x', limit: 1000 }, /limit/],
      ['search_skills', { query: 'x', order: 'up' }, /order/],
      ['search_skills', { query: 'x\0y' }, /NUL/],
      ['report_review', { name: 'pdf', agentKey: 'nobody', rating: 5, content: 'Good.' }, /agentKey/],
      ['report_review', { name: 'pdf', agentKey: 'test:1', rating: 5.3, content: 'Good.' }, /rating/],
    ] as const) {
      const { isError, content } = await call(client, name, input)
      expect(isError, `${name} ${JSON.stringify(input)}`).toBe(true)
      expect(content[0]!.text).toMatch(words)
    }
  })

  it('takes a review of an agent, marked as authentic with its token', async () => {
    const mcp = await startMcp(test.registry)
    const review = { name: 'alice/pdf', agentKey: 'test:one', rating: 4.5, content: 'It filled my form.' }
    const first = await call(asClient(await mcp.connect()), 'report_review', review)
    expect(first.structuredContent).toMatchObject({ agentKey: 'test:one', rating: 4.5, authenticated: false })
    const agentToken = first.structuredContent!.agentToken as string
    const again = await call(asClient(await mcp.connect('legacy', { 'x-agent-token': agentToken })), 'report_review', {
      ...review,
      rating: 5,
    })
    expect(again.structuredContent).toMatchObject({ rating: 5, authenticated: true })
    expect(again.structuredContent).not.toHaveProperty('agentToken')
    const { reviews, total } = await test.api().listAgentReviews({ name: 'alice/pdf' })
    expect(total).toBe(1)
    expect(reviews[0]).toMatchObject({ agentKey: 'test:one', rating: 5, content: 'It filled my form.' })
  })

  it('pages through the list, and leaves out what hosts would refuse, though tools find it', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    for (const name of ['one', 'two', 'three']) await carol.api.publishSkill({ skillMd: skillMd(name) })
    await carol.api.publishSkill({ name: 'bare', description: 'No frontmatter.', skillMd: '# Bare\n' })
    await carol.api.publishSkill({ skillMd: '---\nname: Big Name\ndescription: Another name.\n---\nText.\n' })
    await carol.api.publishSkill({ skillMd: skillMd('long', { description: 'w'.repeat(1025) }) })
    await carol.api.publishSkill({ skillMd: '---\nname: colon\ndescription: Use: a colon\n---\nText.\n' })
    await carol.api.publishSkill({ skillMd: '---\nname: nested\ndescription: D\nmetadata:\n  a: [1]\n---\nText.\n' })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await createMcpServer(other.api(), { pageSize: 3 }).connect(there)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(here)
    const host = new SkillsClient(client)
    const pages = [await host.list({ cursor: '1' }), await host.list({ cursor: '2' }), await host.list({ cursor: '3' })]
    expect(pages.map(({ nextCursor }) => nextCursor)).toEqual(['2', '3', undefined])
    const uris = pages.flatMap(({ skills }) => skills.map(({ uri }) => uri))
    expect(uris.toSorted()).toEqual(['one', 'three', 'two'].map((name) => `skill://carol/${name}/SKILL.md`))
    expect((await host.list()).skills.map(({ uri }) => uri)).toEqual(uris)
    expect(await host.list({ cursor: '99' })).toMatchObject({ skills: [] })
    for (const name of ['bare', 'big-name', 'long', 'nested']) {
      await expect(host.get(`skill://carol/${name}/SKILL.md`), name).rejects.toMatchObject({ code: -32602 })
    }
    expect((await call(asClient(client), 'search_skills', { query: 'frontmatter' })).structuredContent).toMatchObject({
      skills: [{ fullName: 'carol/bare' }],
    })
    await client.close()
  })

  it('says where a skill went, and that it is under a takedown', async () => {
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

  it('counts what it serves: the document and full loads, in the name of the client, and nothing else', async () => {
    const other = await open()
    const carol = await other.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('counted'), files: [{ path: 'more.md', content: 'More.' }] })
    const clients: (string | undefined)[] = []
    const counters = Object.create(other.registry.counters, {
      countDownload: {
        value: (skill: { id: string; ownerId: string }, client?: string) => {
          clients.push(client)
          other.registry.counters.countDownload(skill, client)
        },
      },
    })
    const mcp = await startMcp({ ...other.registry, counters })
    const downloads = async () => {
      await other.registry.counters.flush()
      return (await other.api().getSkill({ name: 'counted' })).downloads
    }
    const client = await mcp.connect()
    const host = new SkillsClient(client)
    const [skill] = (await host.list()).skills
    await host.read(skill!, 'skill://carol/counted/more.md')
    await call(asClient(client), 'search_skills', { query: 'counted' })
    for (const level of ['metadata', 'contract', 'summary']) {
      await call(asClient(client), 'load_skill', { name: 'counted', level })
    }
    await client.listResources()
    expect(await downloads()).toBe(0)
    await host.read(skill!)
    expect(await downloads()).toBe(1)
    await call(asClient(client), 'load_skill', { name: 'counted' })
    expect(await downloads()).toBe(2)
    const owner = await mcp.connect('auto', bearer(carol))
    await call(asClient(owner), 'load_skill', { name: 'counted' })
    expect(await downloads()).toBe(2)
    const named = await mcp.connect('legacy', { 'x-skillstead-client': 'named' })
    await call(asClient(named), 'load_skill', { name: 'counted' })
    expect(clients).toEqual(['test-agent', 'test-agent', 'named'])
  })
})

async function call(client: McpClient, name: string, input: Record<string, unknown> = {}): Promise<ToolResult> {
  return client.callTool({ name, arguments: input })
}

/** What the two releases of the client have in common; their types differ in what is not looked at here. */
function asClient(client: unknown): McpClient {
  return client as McpClient
}

function bearer(user: TestUser) {
  return { authorization: `Bearer ${user.key}` }
}

async function refusalOf(work: Promise<unknown>) {
  const error = (await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as { code: number; message: string } | undefined
  return { code: error?.code, message: error?.message ?? '' }
}
