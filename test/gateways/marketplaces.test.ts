import { createHash } from 'node:crypto'
import { toMarketplaceName } from '@skillstead/protocol'
import { createPluginFacts, readZipDirectory } from '@skillstead/skill-format/archives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toMarketplaceForms } from '../../packages/gateways/src/scopes/marketplace-documents.ts'
import { findSchemaProblems, pluginSchema } from '../support/plugin-acts.ts'
import { openNode } from '../support/server-harness.ts'

interface Document {
  readonly name: string
  readonly owner: { readonly name: string }
  readonly plugins: readonly {
    readonly name: string
    readonly version: string
    readonly description: string
    readonly strict: boolean
    readonly skills: string[]
    readonly author: { readonly name: string }
    readonly source: { readonly source: string; readonly url: string; readonly sha256: string }
  }[]
}

const folder = '/.claude-plugin'
const toSkill = (name: string) => {
  const source = { folder: `skills/${name}` }
  return { name, owner: 'alice', version: '1.0.0', description: `What ${name} does`, source }
}
const toSkillMd = (name: string, body = 'Reads.') =>
  `---\nname: ${name}\ndescription: What ${name} does\n---\n${body}\n`

let node: Awaited<ReturnType<typeof openNode>>
const get = (path: string, init?: RequestInit) => fetch(`${node.node.url}${path}`, { redirect: 'manual', ...init })
const ask = (scope: string, init?: RequestInit) => get(`${scope}${folder}/marketplace.json`, init)
const read = async (scope: string) => (await (await ask(scope)).json()) as Document
const names = async (scope: string) => (await read(scope)).plugins.map(({ name, version }) => `${name}@${version}`)
const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

beforeAll(async () => {
  node = await openNode({ discoveryPack: 'basics' })
  const files = [{ path: 'scripts/run.sh', content: 'echo hi\n' }]
  await node.api.publishSkill({ skillMd: toSkillMd('tool'), version: '1.0.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('tool', 'Reads more.'), version: '1.1.0', files })
  await node.api.publishSkill({ skillMd: toSkillMd('secret'), version: '1.0.0', visibility: 'private' })
  const skills = ['alice/pdf', { name: 'alice/tool', version: '1.0.0' }, 'alice/secret']
  await node.api.createPack({ name: 'Basics', description: '', skills })
})
afterAll(() => node.close())

describe('a marketplace document', () => {
  it('has a plugin for each skill, whose source is a zip with a digest', async () => {
    const { name, owner, plugins } = await read('/alice')
    expect([name, owner]).toEqual(['alice', { name: 'alice' }])
    expect(plugins.map((plugin) => plugin.name)).toEqual(['pdf', 'tool'])
    expect(plugins[1]).toMatchObject({
      version: '1.1.0',
      description: 'What tool does',
      author: { name: 'alice' },
      strict: false,
      skills: ['./'],
      source: { source: 'archive', url: `${node.node.url}/alice${folder}/tool-1.1.0.zip` },
    })
  })

  it.each([
    ['/alice', ['pdf@1.0.0', 'tool@1.1.0']],
    ['/alice/tool', ['tool@1.1.0']],
    ['/alice/tool@1.0.0', ['tool@1.0.0']],
    ['/packs/basics', ['pdf@1.0.0', 'tool@1.0.0']],
    ['', ['pdf@1.0.0', 'tool@1.0.0']],
  ])('at the scope "%s" leads to zips with SKILL.md at their root', async (scope, expected) => {
    expect(await names(scope)).toEqual(expected)
    for (const { source } of (await read(scope)).plugins) {
      const response = await fetch(source.url)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip'])
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(source.sha256)
      expect(readZipDirectory(bytes).map((entry) => entry.name)).toContain('SKILL.md')
    }
  })

  it('of a share link lists only the shared skill', async () => {
    const { token } = await node.api.createShare({ name: 'alice/secret' })
    const response = await ask(`/t/${token}`)
    const { name, plugins } = (await response.json()) as Document
    expect([name, plugins.map((plugin) => plugin.name)]).toEqual(['alice-secret', ['secret']])
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect((await fetch(plugins[0]!.source.url)).status).toBe(200)
    expect((await get(`/t/${token}${folder}/tool-1.1.0.zip`)).status).toBe(404)
  })

  it('lists private skills only for their readers', async () => {
    expect(await names('/alice')).not.toContain('secret@1.0.0')
    const own = (await (await ask('/alice', as(node.key))).json()) as Document
    const { source } = own.plugins.find(({ name }) => name === 'secret')!
    expect((await fetch(source.url)).status).toBe(404)
    expect((await fetch(source.url, as(await node.createUser('bob')))).status).toBe(404)
    expect((await fetch(source.url, as(node.key))).status).toBe(200)
  })

  it.each(['/unknown-user', '/alice/absent', '/alice/secret', '/packs/absent', '/t/ssl_unknown'])(
    'is absent at %s',
    async (scope) => {
      expect((await ask(scope)).status).toBe(404)
    },
  )

  it('leaves out a skill whose files contain hooks, commands, MCP servers or programs', async () => {
    const publish = async (path: string, version: string) => {
      const mcp = { $schema: 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json', mcpServers: {} }
      const files = [{ path, content: path === 'mcp.json' ? JSON.stringify(mcp) : '{}\n' }]
      await node.api.publishSkill({ skillMd: toSkillMd('hooked'), version, files })
    }
    const paths = ['hooks/hooks.json', '.mcp.json', 'mcp.json', 'Hooks/hooks.json', 'commands/run.md', 'bin/git']
    for (const [i, path] of [...paths, '.claude-plugin/plugin.json'].entries()) {
      await publish(path, `1.0.${i}`)
      expect([path, (await ask('/alice/hooked')).status]).toEqual([path, 404])
      expect(await names('/alice')).toEqual(['pdf@1.0.0', 'tool@1.1.0'])
    }
    await publish('docs/hooks/hooks.json', '1.1.0')
    expect(await names('/alice/hooked')).toEqual(['hooked@1.1.0'])
    await node.api.deleteSkill({ name: 'alice/hooked' })
  })

  it('offers the next lower version after a yank, and no version after a deletion', async () => {
    await node.api.publishSkill({ skillMd: toSkillMd('fading'), version: '1.0.0' })
    await node.api.publishSkill({ skillMd: toSkillMd('fading', 'Worse.'), version: '2.0.0' })
    await node.api.yankVersion({ name: 'alice/fading', version: '2.0.0' })
    expect(await names('/alice/fading')).toEqual(['fading@1.0.0'])
    const { url } = (await read('/alice/fading')).plugins[0]!.source
    await node.api.deleteSkill({ name: 'alice/fading' })
    expect([(await ask('/alice/fading')).status, (await fetch(url)).status]).toEqual([404, 404])
  })
})

const parse = (texts: string[]) => texts.map((text) => JSON.parse(text) as Document)

describe('the marketplaces of a repository', () => {
  const forms = toMarketplaceForms({ name: 'alice', owner: 'alice', description: 'Skills' })

  /** The documents for Codex and for Claude Code. */
  function fill(...plugins: string[]) {
    const skills = plugins.map(toSkill)
    const facts = createPluginFacts()
    for (const name of plugins) facts.put(name, { license: 'MIT', keywords: [name] })
    return forms.map(({ toFrames, toPart }) => {
      return toFrames(facts).join(skills.map(toPart).join(''))
    })
  }
  const fillMarketplaces = (...plugins: string[]) => fill(...plugins).slice(0, 2)

  it('have a bundle of all skills and a plugin for each skill, with relative sources', () => {
    const [codex, claude] = parse(fill('tool', 'pdf'))
    expect(claude!.plugins).toMatchObject([
      { name: 'alice', source: './', strict: false },
      { name: 'tool', source: './skills/tool', strict: false, skills: './', version: '1.0.0' },
      { name: 'pdf', source: './skills/pdf' },
    ])
    expect(claude!.plugins[0]).not.toHaveProperty('skills')
    expect(codex!.plugins).toMatchObject([
      { name: 'alice', source: { source: 'local', path: './' }, skills: './skills' },
      { name: 'tool', source: { source: 'local', path: './skills' }, skills: './tool' },
      { name: 'pdf', skills: './pdf' },
    ])
  })

  it('give the bundle of all skills another name if a skill has the same name', () => {
    for (const { plugins } of parse(fillMarketplaces('alice', 'alice-bundle'))) {
      expect(plugins.map(({ name }) => name)).toEqual(['alice-bundle-bundle', 'alice', 'alice-bundle'])
    }
  })

  it('have one line of text for each skill, in the files that the agents read', () => {
    for (const [i, text] of fillMarketplaces('tool', 'pdf', 'read').entries()) {
      const lines = text.split('\n').filter((line) => line.startsWith('    {"name":"'))
      expect(lines.map((line) => JSON.parse(line.replace(/,$/, '')) as unknown)).toEqual(
        parse(fill('tool', 'pdf', 'read'))[i]!.plugins.slice(1),
      )
      expect(text).toMatch(/^\{\n {2}"name": "alice",[^]*\n {2}\]\n\}\n$/)
    }
    expect(forms.map(({ path }) => path)).toEqual([
      '.agents/plugins/marketplace.json',
      '.claude-plugin/marketplace.json',
      'plugin.json',
    ])
  })

  it('have a plugin with all skills, which fits the schema of Agent Plugins and has the name of the bundle', () => {
    for (const plugins of [['tool'], ['alice'], ['alice', 'alice-bundle']]) {
      const [codex, , manifest] = parse(fill(...plugins))
      expect(findSchemaProblems(manifest)).toEqual([])
      expect(manifest).toMatchObject({ name: codex!.plugins[0]!.name, author: { name: 'alice' } })
    }
  })

  it('have a plugin with the license that all skills share, and with the keywords of all skills', () => {
    const manifest = forms.find(({ path }) => path === 'plugin.json')!
    const fillManifest = (...skills: [string, string, string[]][]) => {
      const facts = createPluginFacts()
      for (const [name, license, keywords] of skills) facts.put(name, { license, keywords })
      const found = JSON.parse(manifest.toFrames(facts).join('')) as { license?: string; keywords?: string[] }
      expect(findSchemaProblems(found)).toEqual([])
      return found
    }
    expect(fillManifest(['a', 'MIT', ['x', 'z']], ['b', 'MIT', ['y', 'x']])).toMatchObject({
      license: 'MIT',
      keywords: ['x', 'y', 'z'],
    })
    expect(fillManifest(['a', 'MIT', []], ['b', 'Apache-2.0', []])).not.toHaveProperty('license')
    expect(fillManifest(['a', 'MIT', []], ['b', '', []])).not.toHaveProperty('license')
    expect(fillManifest(['a', '', []])).not.toHaveProperty('keywords')
    // A new version of a skill replaces the facts of the one before.
    expect(fillManifest(['a', 'MIT', ['old']], ['b', 'ISC', []], ['a', 'ISC', ['new']])).toMatchObject({
      license: 'ISC',
      keywords: ['new'],
    })
  })

  it('have a plugin with the 50 most frequent keywords, in whatever order skills were published', () => {
    const skills = Array.from({ length: 40 }, (_, n) => ({
      name: `skill-${n}`,
      keywords: [`own-${n}`, `more-${n}`, ...(n % 2 === 0 ? ['even'] : []), 'all'],
    }))
    const list = (given: typeof skills) => {
      const facts = createPluginFacts()
      for (const { name, keywords } of given) facts.put(name, { license: '', keywords })
      return facts.summarize().keywords
    }
    const keywords = list(skills)
    expect(keywords).toHaveLength(50)
    expect(keywords).toEqual(keywords.toSorted())
    expect(keywords).toEqual(expect.arrayContaining(['all', 'even', 'more-0']))
    expect(list(skills.toReversed())).toEqual(keywords)
  })

  it.each([60, 64])('have a plugin whose name of %i characters stays valid if a skill has the same name', (length) => {
    const name = `${'a'.repeat(55)}-${'b'.repeat(length - 56)}`
    const { toFrames } = toMarketplaceForms({ name, owner: 'alice', description: '' }).at(-1)!
    const facts = createPluginFacts()
    facts.put(name, { license: '', keywords: [] })
    const manifest = JSON.parse(toFrames(facts).join('')) as { name: string }
    expect(findSchemaProblems(manifest)).toEqual([])
    expect(manifest.name).toMatch(/-bundle$/)
  })

  it.each([
    [{ name: 'a' }],
    [{ $schema: pluginSchema }],
    [{ $schema: 'https://agent-plugins.org/schemas/1.0/plugin.schema.json', name: 'a' }],
    [{ $schema: pluginSchema, name: 'A--b' }],
    [{ $schema: pluginSchema, name: 'a', author: { name: 'a', phone: '1' } }],
    [{ $schema: pluginSchema, name: 'a', skills: './skills' }],
  ])('would be refused by the schema with the manifest %j', (manifest) => {
    expect(findSchemaProblems(manifest)).not.toEqual([])
  })
})

describe('the name of a marketplace', () => {
  it.each([
    ['agent-skills', 'agent-skills-skills'],
    ['claude-code-plugins', 'claude-code-plugins-skills'],
    ['claude-code-marketplace', 'claude-code-marketplace-skills'],
    ['knowledge-work-plugins', 'knowledge-work-plugins-skills'],
    ['life-sciences', 'life-sciences-skills'],
    // Claude Code 2.1.330 refuses these with a suffix too.
    ['claude-plugins', 'claude-skills-plugins'],
    ['claude-plugins-official', 'claude-skills-plugins-official'],
    ['anthropic-marketplace', 'anthropic-skills-marketplace'],
    ['anthropic-plugins', 'anthropic-skills-plugins'],
    ['officialclaude', 'official-skills-claude'],
    ['claude-tools', 'claude-tools'],
    ['my-claude-plugins', 'my-claude-plugins'],
    ['agent-skills-too', 'agent-skills-too'],
  ])('for %s is %s', (name, expected) => {
    expect(toMarketplaceName(name)).toBe(expected)
  })

  it('gets a suffix for a pack with a reserved name', async () => {
    await node.api.createPack({ name: 'Reserved', slug: 'agent-skills', description: '', skills: ['alice/pdf'] })
    expect((await read('/packs/agent-skills')).name).toBe('agent-skills-skills')
  })
})
