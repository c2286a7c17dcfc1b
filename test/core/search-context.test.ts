import { beforeAll, describe, expect, it } from 'vitest'
import { toContextTerms } from '../../packages/core/src/search/words/context-terms.ts'
import { codeOf, fieldsOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

describe('the words of a search context', () => {
  it.each([
    ['the ending of a path', { files: ['infra/main.tf'] }, ['terraform', 'infrastructure']],
    ['a well-known name in any case', { files: ['sub/Cargo.TOML'] }, ['rust', 'cargo']],
    ['a name with a suffix', { files: ['Dockerfile.dev'] }, ['docker', 'container', 'dev']],
    ['the settings of a tool', { files: ['next.config.mjs'] }, ['nextjs', 'react', 'javascript']],
    ['no word of a title', { files: ['next-steps.md', 'compose.md', 'jest-notes.txt'] }, ['markdown']],
    ['a well-known folder', { files: ['.github/workflows/a.yml'] }, ['github', 'actions', 'workflow', 'ci']],
    ['an unknown ending', { files: ['a.zig', 'b.zig', 'c.verylongending'] }, ['zig']],
    ['Windows separators', { files: ['src\\app.py'] }, ['python']],
    ['a language', { languages: ['C++', 'C#', 'Go'] }, ['cpp', 'csharp', 'go']],
    ['installed skills', { installed: [{ keywords: ['csv'], category: 'data' }] }, ['csv', 'data']],
    ['nothing', { files: ['README', 'constructor', '__proto__', '.'], languages: ['!'] }, []],
  ])('come from %s', (_, context, terms) => {
    expect(toContextTerms(context)).toEqual(terms)
  })

  it('are limited to the 32 most frequent words', () => {
    const files = Array.from({ length: 99 }, (__, i) => `a.x${i}`)
    const terms = toContextTerms({ files: [...files, 'b.x80'] })
    expect({ count: terms.length, first: terms[0] }).toEqual({ count: 32, first: 'x80' })
  })
})

describeApi('a search with a context', (open) => {
  let test: TestRegistry
  let alice: TestUser
  const description = 'Provisions a staging server.'
  const find = async (context: object | undefined, more: object = {}) => {
    const input = { q: 'provision a staging server', explain: true, context, ...more }
    const { skills, total } = await alice.api.searchByNeed(input)
    const names = skills.map(({ name }) => name)
    return { names, total, matches: Object.fromEntries(skills.map(({ name, match }) => [name, match])) }
  }

  beforeAll(async () => {
    test = await open({ memorySkillsMax: undefined })
    alice = await test.makeUser('alice')
    for (const [name, tool] of [
      ['staging-blue', 'pulumi'],
      ['staging-green', 'terraform'],
      ['staging-red', 'ansible'],
    ] as const)
      await alice.api.publishSkill({ skillMd: skillMd(name, { description, body: `Write ${tool} files.\n` }) })
    await alice.api.publishSkill({ skillMd: skillMd('unrelated', { description: 'Formats terraform files.' }) })
    const secret = { skillMd: skillMd('my-infra'), keywords: ['terraform'], visibility: 'private' as const }
    await alice.api.publishSkill(secret)
  })

  it('puts the skill that fits the files, languages or installed skills first among equal matches', async () => {
    expect((await find(undefined)).names).toEqual(['staging-blue', 'staging-green', 'staging-red'])
    for (const context of [
      { files: ['infra/main.tf'] },
      { languages: ['Terraform'] },
      { installed: ['alice/my-infra'] },
      { installed: ['my-infra'] },
    ])
      expect((await find(context)).names).toEqual(['staging-green', 'staging-blue', 'staging-red'])
    expect((await find({ files: ['ansible.cfg'] })).names[0]).toBe('staging-red')
  })

  it('changes neither the matches nor their number and scores', async () => {
    const { names, ...plain } = await find(undefined)
    const { names: inContext, ...rest } = await find({ files: ['infra/main.tf', 'x.rs'], languages: ['terraform'] })
    expect(inContext.toSorted()).toEqual(names)
    expect(rest).toEqual(plain)
  })

  it('does not change the rank of a better match, another sort order or an empty query', async () => {
    const context = { files: ['infra/main.tf'] }
    expect((await find(context, { q: 'staging-blue' })).names[0]).toBe('staging-blue')
    for (const more of [{ sort: 'stars' }, { q: '' }])
      expect((await find(context, more)).names).toEqual((await find(undefined, more)).names)
  })

  it("reveals nothing about another user's private skill that is named as installed", async () => {
    const bob = await test.makeUser('bob')
    const input = {
      q: 'provision a staging server',
      context: { installed: ['alice/my-infra', 'my-infra', 'missing/x'] },
    }
    const { skills } = await bob.api.searchByNeed(input)
    expect(skills.map(({ name }) => name)).toEqual(['staging-blue', 'staging-green', 'staging-red'])
  })

  it.each([
    ['an absolute path', { files: ['a.ts', '/home/ada/secret.ts'] }, 'context.files.1'],
    ['a path of a home folder', { files: ['~/secret.ts'] }, 'context.files.0'],
    ['an absolute path of Windows', { files: ['C:\\secret.ts'] }, 'context.files.0'],
    ['a path with invisible characters', { files: ['secret\u200b.ts'] }, 'context.files.0'],
    ['a long path', { files: ['secret'.repeat(50)] }, 'context.files.0'],
    ['10,000 files', { files: Array.from({ length: 10_000 }, () => '/secret') }, 'context.files'],
    ['a language with invisible characters', { languages: ['secret\u202e'] }, 'context.languages.0'],
    ['21 languages', { languages: Array.from({ length: 21 }, () => 'secret') }, 'context.languages'],
    ['101 installed skills', { installed: Array.from({ length: 101 }, () => 'secret') }, 'context.installed'],
    ['an unknown field', { tools: [] }, 'context.tools'],
    ['text instead of lists', { files: 'secret' }, 'context.files'],
    ['null', null, 'context'],
    ['a list', [], 'context'],
  ])('refuses %s, naming only the field', async (_, context, path) => {
    const search = () => alice.api.searchByNeed({ q: 'x', context: context as object })
    expect(await codeOf(search())).toBe('invalid_request')
    expect(await fieldsOf(search())).toEqual([path])
    await expect(search()).rejects.not.toThrow(/secret|ada/)
  })
})
