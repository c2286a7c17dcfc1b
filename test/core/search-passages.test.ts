import { partsOf } from '@skillstead/core/internal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashStem } from '../../packages/core/src/search/words/count-stems.ts'
import { PassageFinder } from '../../packages/core/src/search/passage.ts'
import { skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry } from '../support/harness.ts'

const body = `# Payment hooks

Receives notifications from a *payment* provider. A notification may arrive twice.

- Store the id of each event, so that [customers](https://shop.example) are not **charged** again.
`

async function explain(test: TestRegistry, q: string, api = test.api()) {
  await partsOf(test.registry).search.warmed
  const { skills } = await api.searchSkills({ q, explain: true })
  return skills.map(({ fullName, match }) => ({
    fullName,
    fields: match!.fields,
    passage: match!.passage,
    marked: match!.highlights?.map(([start, end]) => match!.passage!.slice(start, end)),
  }))
}

describe.each([
  ['in memory', undefined],
  ['in the database', 0],
])('a search %s', (_, memorySkillsMax) => {
  describeApi('the passage that explains a hit', (open) => {
    it('is the sentence of SKILL.md with most words of the query, as plain text', async () => {
      const test = await open({ memorySkillsMax })
      const { api } = await test.makeUser('alice')
      await api.publishSkill({ skillMd: skillMd('hooks', { description: 'Handles hooks of customers.', body }) })
      const [hit] = await explain(test, 'hooks for customers charged twice')
      expect(hit).toEqual({
        fullName: 'alice/hooks',
        fields: ['name', 'description', 'headings', 'summary', 'body'],
        passage: 'Store the id of each event, so that customers are not charged again.',
        marked: ['customers', 'charged'],
      })
    })

    it('is absent without a query, and if only the name and description match', async () => {
      const test = await open({ memorySkillsMax })
      const { api } = await test.makeUser('alice')
      await api.publishSkill({ skillMd: skillMd('zebra', { description: 'Striped.', body: 'Does something else.\n' }) })
      expect(await explain(test, '')).toMatchObject([{ fields: [], passage: undefined, marked: undefined }])
      const [hit] = await explain(test, 'zebra striped')
      expect(hit).toMatchObject({ passage: undefined, marked: undefined })
      expect(hit!.fields).not.toContain('body')
    })

    it('is from the latest version, and only of skills that the viewer may read', async () => {
      const test = await open({ memorySkillsMax })
      const alice = await test.makeUser('alice')
      const publish = (version: string, sentence: string) =>
        alice.api.publishSkill({
          skillMd: skillMd('secret', { version, description: 'A quokka.', body: `${sentence}\n` }),
          visibility: 'private',
        })
      await publish('1.0.0', 'The quokka eats leaves.')
      await publish('1.1.0', 'The quokka hides in bushes.')
      expect(await explain(test, 'quokka')).toEqual([])
      expect(await explain(test, 'quokka', alice.api)).toMatchObject([{ passage: 'The quokka hides in bushes.' }])
      await alice.api.yankVersion({ name: 'alice/secret', version: '1.1.0' })
      expect(await explain(test, 'quokka', alice.api)).toMatchObject([{ passage: 'The quokka eats leaves.' }])
    })

    it('can match words at the end of a long query', async () => {
      const test = await open({ memorySkillsMax })
      const { api } = await test.makeUser('alice')
      await api.publishSkill({ skillMd: skillMd('hooks', { description: 'A quokka.', body: 'The quokka hides.\n' }) })
      await partsOf(test.registry).search.warmed
      const q = `${Array.from({ length: 40 }, (__, i) => `filler${i}`).join(' ')} quokka hides`
      const { skills } = await test.api().searchByNeed({ q, explain: true })
      expect(skills[0]).toMatchObject({
        fullName: 'alice/hooks',
        match: { fields: ['description', 'summary', 'body'], terms: ['quokka', 'hides'], passage: 'The quokka hides.' },
      })
    })

    it('is absent if the latest version is quarantined', async () => {
      const test = await open({ memorySkillsMax, works: false })
      const { api } = await test.makeUser('alice')
      const files = [{ path: 'x/config', content: '[core]\n' }]
      await api.publishSkill({
        skillMd: skillMd('old', { description: 'A quokka.', body: 'A quokka hides.\n' }),
        files,
      })
      expect(await explain(test, 'quokka')).toMatchObject([{ passage: 'A quokka hides.' }])
      await partsOf(test.registry).database.writer.write((trx) =>
        trx.updateTable('version_files').set({ path: 'x/.git/config' }).where('path', '=', 'x/config').execute(),
      )
      expect(await explain(test, 'quokka')).toMatchObject([{ fullName: 'alice/old', passage: undefined }])
    })
  })
})

const finderOf = (...words: string[]) => new PassageFinder(new Map(words.map((word) => [hashStem(word), 1])))
const find = (text: string, ...words: string[]) => {
  const passage = finderOf(...words).find(`---\nname: x\ndescription: y\n---\n${text}`)
  return (
    passage && {
      text: passage.text,
      marked: passage.highlights.map(([start, end]) => passage.text.slice(start, end)),
    }
  )
}

describe('the passage for a set of words', () => {
  it.each([
    ['a table', '| Step | Tool |\n|---|---|\n| Merge | qpdf |\n', ['qpdf'], 'Merge · qpdf', ['qpdf']],
    ['a quoted list', '> 1. Run `qpdf` *now*\n', ['qpdf'], 'Run qpdf now', ['qpdf']],
    [
      'a wrapped paragraph',
      'Merge files\nwith qpdf. Then stop.\n',
      ['qpdf'],
      'Merge files with qpdf. Then stop.',
      ['qpdf'],
    ],
    ['code', '```sh\nqpdf --empty\n```\n', ['qpdf'], 'qpdf --empty', ['qpdf']],
    ['code in C++', 'Written in C++ and C#.\n', ['cpp', 'csharp'], 'Written in C++ and C#.', ['C++', 'C#']],
    [
      '.NET',
      'Needs C# or .NET 9 and ASP.NET tools.\n',
      ['dotnet'],
      'Needs C# or .NET 9 and ASP.NET tools.',
      ['.NET', '.NET'],
    ],
    ['an abbreviation', 'Use a tool, e.g. qpdf. Then stop.\n', ['qpdf'], 'Use a tool, e.g. qpdf. Then stop.', ['qpdf']],
    [
      'an abbreviation before a name',
      'Use e.g. Qpdf vs. Dr. Pdf. Then stop.\n',
      ['pdf'],
      'Use e.g. Qpdf vs. Dr. Pdf. Then stop.',
      ['Pdf'],
    ],
    ['one ideograph', '打开图，然后停。\n', ['停'], '打开图，然后停。', ['停']],
    ['another form of the word', "Merging the files' pages.\n", ['merge'], "Merging the files' pages.", ['Merging']],
    ['Chinese', '先打开文件。然后合并图像生成的页面！\n', ['图像', '像生'], '然后合并图像生成的页面！', ['图像生']],
    ['invisible marks', 'Merge \u202eq\u200bpdf\u{e0041} files.\n', ['qpdf'], 'Merge qpdf files.', ['qpdf']],
  ])('is readable text: %s', (_, text, words, passage, marked) => {
    expect(find(text, ...words)).toEqual({ text: passage, marked })
  })

  it('is a part of the line if a long line has no end of a sentence', () => {
    const line = `${'word '.repeat(2000)}qpdf ${'word '.repeat(2000)}`
    const found = find(`${line}\n`, 'qpdf')!
    expect(found.marked).toEqual(['qpdf'])
    expect(found.text.length).toBeLessThanOrEqual(160)
    expect(find(`${'x'.repeat(4000)} qpdf\n`, 'qpdf')).toEqual({
      text: expect.stringContaining('qpdf'),
      marked: ['qpdf'],
    })
  })

  it('is neither a comment nor from the frontmatter', () => {
    expect(find('<!-- qpdf -->\n\nOther text.\n', 'qpdf', 'description')).toBeUndefined()
  })

  it('prefers a sentence to code and to a heading with the same words', () => {
    const text = '# Use qpdf\n\n```sh\nqpdf --empty\n```\n\nIt needs qpdf 11.\n'
    expect(find(text, 'qpdf')!.text).toBe('It needs qpdf 11.')
  })

  it('is a heading with the sentence below it, if only the heading has the words', () => {
    expect(find('# Text\n\nOne.\n\n## Using qpdf\n\n- Merge files. Stop.\n- Split.\n', 'qpdf')).toEqual({
      text: 'Using qpdf: Merge files. Stop.',
      marked: ['qpdf'],
    })
    expect(find('# Using qpdf\n\n## Next\n', 'qpdf')!.text).toBe('Using qpdf')
  })

  it('is the part of a long sentence with most of the words, cut at words', () => {
    const filler = 'something that is of no interest at all '.repeat(10)
    const { text, marked } = find(
      `${filler}rotate ${filler}merge and split pages ${filler}\n`,
      'rotate',
      'merge',
      'split',
    )!
    expect(marked).toEqual(['merge', 'split'])
    expect(text).toMatch(/^…\w.* merge and split pages .*\w…$/)
    expect(text.length).toBeLessThanOrEqual(160)
  })

  it('has at most 160 well-formed, visible characters and ordered highlights, for any text', () => {
    const anyPart = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'qpdf',
        ' qpdf ',
        '\n',
        '\n\n',
        '# ',
        '```\n',
        '- ',
        '| a |',
        '图像',
        '\ud83d',
        '🎉',
        '\u202e',
        '. ',
      ),
      fc.string({ minLength: 100, maxLength: 400 }),
    )
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 30 }), (parts) => {
        const passage = finderOf('qpdf', '图像').find(parts.join(''))
        if (!passage) return
        const { text, highlights } = passage
        expect(text.length).toBeLessThanOrEqual(160)
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
        expect(highlights.length).toBeGreaterThan(0)
        const places = [0, ...highlights.flat(), text.length]
        expect(places.toSorted((a, b) => a - b)).toEqual(places)
        for (const [start, end] of highlights) expect(start).toBeLessThan(end)
      }),
      { numRuns: 300 },
    )
  })

  it('takes bounded work for hostile texts', () => {
    for (const text of [
      'qpdf'.repeat(300_000),
      '*_['.repeat(400_000),
      '<!--'.repeat(300_000),
      'qpdf '.repeat(250_000),
    ]) {
      expect(find(text, 'qpdf')?.text.length ?? 0).toBeLessThanOrEqual(160)
    }
  })
})
