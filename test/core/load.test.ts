import { readFileSync } from 'node:fs'
import { partsOf } from '@skillstead/core/internal'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const sample = readFileSync(new URL('../fixtures/loading/tables.md', import.meta.url), 'utf8')
const tiktoken = new Tiktoken(o200k)
const countTokens = (text: string) => tiktoken.encode(text, [], []).length
const tokensOf = (value: unknown) => countTokens(JSON.stringify(value))

describeApi('loading a skill', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await alice.api.publishSkill({ skillMd: sample, keywords: ['csv'], category: 'data' })
  })

  const name = 'alice/tables'
  const downloadsOf = async (skill: string) => {
    await partsOf(test.registry).counters.flush()
    return (await test.api().getSkill({ name: skill })).downloads
  }

  describe('at a level', () => {
    it('`metadata` returns the fields of docs/api.md, and no fields of higher levels', async () => {
      const loaded = await test.api().loadSkill({ name, level: 'metadata' })
      expect(loaded).toEqual({
        level: 'metadata',
        metadata: {
          name: 'tables',
          fullName: name,
          version: '1.2.0',
          description: 'Turns CSV files into tables for reports.',
          author: expect.objectContaining({ username: 'alice' }),
          downloads: expect.any(Number),
          securityScore: 100,
          verified: false,
          deprecated: false,
          keywords: ['csv'],
        },
        frontmatter: { name: 'tables', description: 'Turns CSV files into tables for reports.' },
        truncated: [],
      })
    })

    it('`contract` adds the contract, capabilities and a tool definition', async () => {
      const body = '# Adder\n\nAdds.\n\n## Inputs\n\n- `a`: a number\n\n## Returns\n\n- the sum\n'
      await alice.api.publishSkill({ skillMd: skillMd('adder', { body }) })
      const loaded = await test.api().loadSkill({ name: 'adder', level: 'contract' })
      expect(loaded.contract).toEqual({ inputs: ['a: a number'], outputs: ['the sum'] })
      expect(loaded.toolDefinition).toMatchObject({ name: 'adder', parameters: { type: 'object' } })
      expect(loaded).not.toHaveProperty('summary')
      const tables = await test.api().loadSkill({ name, level: 'contract' })
      expect(tables.contract).toBeNull()
      expect(tables.capabilities).toEqual(['Read', 'Bash(column:*)'])
    })

    it('`summary` adds the summary, and `full` adds the document and its whole frontmatter', async () => {
      const summary = await test.api().loadSkill({ name, level: 'summary' })
      expect(summary.summary).toBe('Makes a table of a CSV file, and checks that its columns line up.')
      expect(summary).not.toHaveProperty('fullContent')
      expect(summary.frontmatter).not.toHaveProperty('license')
      const full = await test.api().loadSkill({ name })
      expect(full).toMatchObject({ level: 'full', fullContent: sample, frontmatter: { license: 'MIT' } })
    })

    it('includes the fields of the next lower level and has more tokens', async () => {
      const levels = ['metadata', 'contract', 'summary', 'full'] as const
      const loaded = await Promise.all(levels.map((level) => bob.api.loadSkill({ name, level })))
      for (const [index, higher] of loaded.slice(1).entries()) {
        const { level: _level, frontmatter, ...parts } = loaded[index]!
        expect(higher).toMatchObject(parts)
        expect(higher.frontmatter).toMatchObject(frontmatter)
        expect(tokensOf(higher)).toBeGreaterThan(tokensOf(loaded[index]))
      }
    })

    it('is refused if the level is not one of the four known levels', async () => {
      expect(await fieldsOf(test.api().loadSkill({ name, level: 'all' as 'full' }))).toEqual(['level'])
    })
  })

  it('returns the latest version, or the requested version with the metadata of that version', async () => {
    for (const version of ['1.0.0', '2.0.0']) {
      const body = `# Versions\n\nBody of ${version}.\n`
      await alice.api.publishSkill({ skillMd: skillMd('versions', { version, description: `Of ${version}.`, body }) })
    }
    await alice.api.publishSkill({ name: 'versions', description: 'Said by its owner.' })
    const latest = await test.api().loadSkill({ name: 'versions' })
    expect(latest.metadata).toMatchObject({ version: '2.0.0', description: 'Said by its owner.' })
    expect(latest).toMatchObject({ summary: 'Body of 2.0.0.', frontmatter: { description: 'Of 2.0.0.' } })
    const first = await test.api().loadSkill({ name: 'versions', version: '1.0.0' })
    expect(first.metadata).toMatchObject({ version: '1.0.0', description: 'Of 1.0.0.', securityScore: 100 })
    expect(first.fullContent).toContain('Body of 1.0.0.')
    expect(await codeOf(test.api().loadSkill({ name: 'versions', version: '3.0.0' }))).toBe('not_found')
    await alice.api.yankVersion({ name: 'versions', version: '2.0.0' })
    expect((await test.api().loadSkill({ name: 'versions', level: 'metadata' })).metadata.version).toBe('1.0.0')
    expect((await test.api().loadSkill({ name: 'versions', version: '2.0.0' })).metadata.version).toBe('2.0.0')
  })

  it('returns content within the token budget, and lists the omitted sections', async () => {
    const whole = await test.api().loadSkill({ name })
    expect(whole.truncated).toEqual([])
    for (const maxTokens of [0, 1, 20, 100, 200]) {
      const loaded = await test.api().loadSkill({ name, maxTokens, priority: ['Options'] })
      const { summary, fullContent, truncated, metadata, ...rest } = loaded
      expect(countTokens(summary! + fullContent!)).toBeLessThanOrEqual(maxTokens)
      expect(truncated).not.toEqual([])
      expect({ ...whole, ...rest }, 'the rest stays').toEqual(whole)
      expect(metadata.fullName).toBe(name)
    }
    const loaded = await test.api().loadSkill({ name, maxTokens: 220, priority: ['Options', 'Notes'] })
    expect(loaded.fullContent).toContain('what stands between')
    expect(await test.api().loadSkill({ name, maxTokens: 10_000 })).toEqual({
      ...whole,
      metadata: { ...whole.metadata, downloads: expect.any(Number) },
    })
  })

  it('is refused with more than a hundred priority sections, and the error states the limit', async () => {
    const priority = Array.from({ length: 100 }, (_, i) => `a section that is called ${i}`)
    const { fullContent } = await test
      .api()
      .loadSkill({ name, maxTokens: 180, priority: [...priority.slice(1), 'Options'] })
    expect(fullContent).toContain('what stands between')
    const tooMany = await refusalOf(test.api().loadSkill({ name, maxTokens: 180, priority: [...priority, 'Options'] }))
    expect(tooMany.message).toBe('priority must have at most 100 items.')
    const tooLong = test.api().loadSkill({ name, maxTokens: 400, priority: ['x'.repeat(5000)] })
    expect((await refusalOf(tooLong)).message).not.toContain('wrong type')
  })

  it('returns empty content instead of an error if the budget is too small, and lists the omitted sections', async () => {
    for (const maxTokens of [0, 1, 5]) {
      const [, , summary, full] = await Promise.all(
        (['metadata', 'contract', 'summary', 'full'] as const).map((level) =>
          test.api().loadSkill({ name, level, maxTokens }),
        ),
      )
      expect(summary).toMatchObject({ summary: '', truncated: [{ section: '(summary)', tokens: expect.any(Number) }] })
      expect(full).toMatchObject({ summary: '', fullContent: '', frontmatter: { license: 'MIT' } })
      expect(full!.truncated.map(({ section }) => section)).toContain('Options')
    }
    for (const maxTokens of [-1, 1.5]) {
      expect(await fieldsOf(test.api().loadSkill({ name, maxTokens }))).toEqual(['maxTokens'])
    }
  })

  it('counts as a download only at level `full`, and not if the owner loads the skill', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('loaded') })
    for (const level of ['metadata', 'contract', 'summary'] as const) await bob.api.loadSkill({ name: 'loaded', level })
    await alice.api.loadSkill({ name: 'alice/loaded' })
    expect(await downloadsOf('loaded')).toBe(0)
    await bob.api.loadSkill({ name: 'loaded' })
    await test.api().loadSkill({ name: 'loaded', maxTokens: 5000 })
    expect(await codeOf(test.api().loadSkill({ name: 'loaded', maxTokens: -1 }))).toBe('invalid_request')
    expect(await downloadsOf('loaded')).toBe(2)
  })

  it('is allowed only to callers who may see the skill', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('secret', { body: 'Thylacine.' }), visibility: 'private' })
    for (const level of ['metadata', 'full'] as const) {
      for (const api of [test.api(), bob.api]) {
        expect(await codeOf(api.loadSkill({ name: 'alice/secret', level, maxTokens: 5 }))).toBe('not_found')
      }
    }
    expect((await alice.api.loadSkill({ name: 'secret' })).fullContent).toContain('Thylacine.')
  })

  it.runIf(transport === 'HTTP')(
    'returns an entity tag, so that an unchanged skill is neither sent nor counted again',
    async () => {
      await alice.api.publishSkill({ skillMd: skillMd('tagged') })
      const url = '/api/v1/skills/alice%2Ftagged/load?level=full&maxTokens=1000&priority=Usage,Notes'
      const head = await test.request(url, { method: 'HEAD' })
      const etag = head.headers.get('etag')!
      expect((await test.request(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
      await test.request(url, { headers: { 'x-skills-update-check': '1' } })
      expect(await downloadsOf('tagged')).toBe(0)
      const { headers } = await test.request(url)
      expect(headers.get('etag')).toBe(etag)
      expect(headers.get('cache-control')).toBe('no-cache')
      expect(await downloadsOf('tagged')).toBe(1)
      const again = await test.request(url, { headers: { 'if-none-match': etag } })
      expect(again.status, 'that it was downloaded makes it no other one').toBe(304)
      expect(await downloadsOf('tagged')).toBe(1)
      const authorization = `Bearer ${alice.key}`
      const own = await test.request(url, { headers: { authorization } })
      expect(own.headers.get('cache-control')).toBe('private, no-store')
    },
  )
})
