import { Worker } from 'node:worker_threads'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type LoadedSkill, truncate } from '@skillstead/skill-format/loading'
import fc from 'fast-check'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type CountTokens,
  getTokenCounter,
  truncateHere,
  type TruncateOrder,
  truncateSkill,
} from '../../packages/core/src/catalogue/skills/truncate-skill.ts'
import { WorkerPool } from '@skillstead/scanner/workers'
import { anyDocument, loadDocument } from '../support/loading-documents.ts'

const tiktoken = new Tiktoken(o200k)
/** Counted by another tokenizer than the one that truncates. */
const countIndependently = (text: string) => tiktoken.encode(text, [], []).length
/** The content that a budget limits. */
const tokensOf = ({ level, contract, summary = '', fullContent = '' }: LoadedSkill) =>
  level === 'contract' && contract
    ? countIndependently(JSON.stringify(contract))
    : countIndependently(summary) + countIndependently(fullContent)
const withContract =
  '---\nname: adder\n---\n# Adder\n\nAdds.\n\n## Inputs\n\n- `a`: a number\n\n## Returns\n\n- the sum\n'
const sample = readFileSync(new URL('../fixtures/loading/tables.md', import.meta.url), 'utf8')

let countTokens: CountTokens
beforeAll(async () => {
  countTokens = await getTokenCounter()
})

const toBudget = (loaded: LoadedSkill, maxTokens: number, priority?: string[]) =>
  truncate(loaded, { maxTokens, priority, countTokens })

describe('a skill truncated to a token budget', () => {
  it('never exceeds the budget, and is complete if the whole skill fits, for any document', () => {
    fc.assert(
      fc.property(anyDocument, fc.double({ min: 0, max: 1, noNaN: true }), (document, share) => {
        const loaded = loadDocument(document)
        const whole = countTokens(loaded.summary!) + countTokens(loaded.fullContent!)
        const maxTokens = Math.round(share * (whole + 20))
        const result = toBudget(loaded, maxTokens)
        expect(tokensOf(result)).toBeLessThanOrEqual(maxTokens)
        expect(result.truncated.length > 0, 'it is whole where that fits').toBe(whole > maxTokens)
        expect(isDeepStrictEqual(result, loaded)).toBe(whole <= maxTokens)
      }),
      { numRuns: 80 },
    )
  })

  it.each([
    ['Chinese', '请先读取合同文件，再逐条核对付款条件、交付日期与违约责任', '。'],
    ['Japanese', 'まず契約書を読み込み、支払い条件と納期と違約金を順番に確認してください', '！'],
    ['English', 'First read the contract and compare the terms of payment with the dates of delivery', '. '],
  ])('uses at least 70 % of it for a long paragraph in %s, and never more than all of it', (_, clause, end) => {
    const sentences = Array.from({ length: 120 }, (__, i) => `${clause}${i}${end}`)
    const loaded = loadDocument(`---\nname: a\n---\n# T\n\n${sentences.join('')}\n`)
    for (const maxTokens of [300, 400, 555, 1000, 1500]) {
      const result = toBudget(loaded, maxTokens)
      expect(tokensOf(result), `${maxTokens}`).toBeLessThanOrEqual(maxTokens)
      expect(tokensOf(result), `${maxTokens}`).toBeGreaterThanOrEqual(0.7 * maxTokens)
      // The summary comes first, and may leave no room for the document.
      expect(['', '# T'], 'it ends with a sentence').toContain(
        result.fullContent!.trimEnd().endsWith(end.trim()) ? '' : result.fullContent!.trim(),
      )
      expect(loaded.fullContent).toContain(result.fullContent!.trimEnd())
      const names = result.truncated.map(({ section }) => section)
      expect(names).toContain('T')
    }
  })

  it('keeps the first sentences of a summary that does not fit', () => {
    const text = '这是第一句话，说明技能的用途。这是第二句话，说明技能的限制。'.repeat(6)
    const loaded = loadDocument(`---\nname: a\n---\n${text}\n`, 'summary')
    for (const maxTokens of [40, 70, 100]) {
      const { summary, truncated } = toBudget(loaded, maxTokens)
      expect(countIndependently(summary!)).toBeLessThanOrEqual(maxTokens)
      expect(countIndependently(summary!)).toBeGreaterThanOrEqual(0.5 * maxTokens)
      expect(text.startsWith(summary!)).toBe(true)
      expect(truncated).toEqual([expect.objectContaining({ section: '(summary)' })])
    }
  })

  it('divides no paragraph inside of code, and no list item', () => {
    const code = `Run \`a. B${' c'.repeat(200)}. D\` first. Then stop.`
    const items = `- ${'One sentence. '.repeat(30)}`
    const loaded = loadDocument(`# T\n\n${code}\n\n${items}\n`)
    for (let maxTokens = 0; maxTokens < 700; maxTokens += 9) {
      const { fullContent } = toBudget(loaded, maxTokens)
      expect((fullContent!.match(/`/g) ?? []).length % 2).toBe(0)
      expect(fullContent!.includes('- One')).toBe(fullContent!.includes(items.trimEnd()))
    }
  })

  it('contains each code block, table, list item and comment completely or not at all, and nothing twice', () => {
    fc.assert(
      fc.property(anyDocument, fc.double({ min: 0, max: 1, noNaN: true }), (document, share) => {
        const loaded = loadDocument(document)
        const result = toBudget(loaded, Math.round(share * tokensOf(loaded)))
        const marks = [...result.fullContent!.matchAll(/\b([FTICP]\d+)([az])\b/g)].map(([, id, end]) => `${id}${end}`)
        expect(new Set(marks).size, 'nothing stands there twice').toBe(marks.length)
        for (const mark of marks) expect(marks).toContain(mark.replace(/[az]$/, (end) => (end === 'a' ? 'z' : 'a')))
        expect(linesOf(document), 'in the order of the document').toEqual(
          expect.arrayContaining(linesOf(result.fullContent!)),
        )
      }),
      { numRuns: 80 },
    )
  })

  it.each([
    '',
    '\n\n\n',
    '#',
    '---\n---\n',
    '```\nnever closed',
    '<!-- never closed',
    '| a |\n|---|',
    '- '.repeat(500),
    '> ```\na\n\nb',
  ])('is created without an error for %j at any budget', (document) => {
    const loaded = loadDocument(document)
    for (let maxTokens = 0; maxTokens < 60; maxTokens++) {
      expect(tokensOf(toBudget(loaded, maxTokens))).toBeLessThanOrEqual(maxTokens)
    }
  })

  it('stays within every budget, for a document with all kinds of blocks', () => {
    const loaded = loadDocument(sample)
    for (let maxTokens = 0; maxTokens <= tokensOf(loaded); maxTokens++) {
      expect(tokensOf(toBudget(loaded, maxTokens)), `${maxTokens}`).toBeLessThanOrEqual(maxTokens)
    }
  })

  it('omits all of its content at the smallest budget, and lists exactly the omitted parts', () => {
    for (const level of ['metadata', 'contract', 'summary', 'full'] as const) {
      const loaded = loadDocument(withContract, level)
      const { truncated, ...rest } = toBudget(loaded, 1)
      const emptied = {
        ...loaded,
        ...(level === 'contract' && { contract: null }),
        ...(loaded.summary && { summary: '' }),
        ...(loaded.fullContent && { fullContent: '' }),
      }
      expect({ truncated: [], ...rest }).toEqual(emptied)
      expect(truncated.map(({ section }) => section)).toEqual(
        {
          metadata: [],
          contract: ['(contract)'],
          summary: ['(summary)'],
          full: ['(frontmatter)', '(summary)', 'Adder', 'Inputs', 'Returns'],
        }[level],
      )
    }
  })

  it('counts the tokens of the contract only at the level `contract`', () => {
    const contract = loadDocument(withContract, 'contract')
    const tokens = tokensOf(contract)
    expect(toBudget(contract, tokens)).toEqual(contract)
    expect(toBudget(contract, tokens - 1)).toMatchObject({
      contract: null,
      truncated: [{ section: '(contract)', tokens }],
    })
    const summary = loadDocument(withContract, 'summary')
    expect(toBudget(summary, tokensOf(summary))).toEqual(summary)
  })

  it('does not count the tokens of metadata, capabilities, frontmatter and tool definition', () => {
    const loaded = loadDocument(sample)
    const long = { ...loaded, metadata: { ...loaded.metadata, description: 'Many words. '.repeat(80) } }
    expect(toBudget(long, tokensOf(loaded))).toEqual(long)
  })

  it('keeps the priority sections and their subsections first, however their names are spelled', () => {
    const loaded = loadDocument(sample)
    const { fullContent, truncated } = toBudget(loaded, 130, ['no such', ' **options** '])
    expect(fullContent).toContain('| `-o`   | what stands between |')
    expect(fullContent).toContain('### Long ones')
    expect(fullContent).not.toContain('column -t')
    expect(truncated.map(({ section }) => section)).not.toContain('Options')
  })

  it('keeps a priority section whose heading contains commas, although commas separate section names', () => {
    const filler = 'Some words that take room.\n\n'.repeat(40)
    const loaded = loadDocument(`# All\n\n## Other\n\n${filler}## Read, write,sort\n\nWanted.\n\n## Sort\n\n${filler}`)
    for (const priority of [['Read, write,sort'], ['none', 'read', 'write', 'sort']]) {
      const { fullContent } = toBudget(loaded, 60, priority)
      expect(fullContent).toContain('## Read, write,sort\n\nWanted.')
    }
  })

  it('contains the kept parts in the order of the document, not in the order of priority', () => {
    const loaded = loadDocument(sample)
    const { fullContent } = toBudget(loaded, 260, ['Notes', 'Options'])
    expect(fullContent!.indexOf('## Options')).toBeGreaterThan(-1)
    expect(fullContent!.indexOf('Notes\n-----')).toBeGreaterThan(fullContent!.indexOf('## Options'))
  })

  it('keeps the first of two sections if a priority name matches both', () => {
    const loaded = loadDocument(sample)
    const { fullContent } = toBudget(loaded, 110, ['usage'])
    expect(fullContent).toContain('Run the command on one file:')
    expect(fullContent).not.toContain('A second section of this name.')
  })

  it('lists the omitted parts with their approximate tokens, and groups small parts as `(others)` if there are many', () => {
    const sections = Array.from({ length: 60 }, (_, i) => `## Part ${i}\n\n${'Some words of it. '.repeat(i + 1)}\n\n`)
    const loaded = loadDocument(`# All\n\n${sections.join('')}`)
    const { truncated } = toBudget(loaded, 3000)
    expect(truncated.length).toBeGreaterThan(5)
    expect(truncated.length).toBeLessThanOrEqual(21)
    expect(truncated.at(-1)!.section).toBe('(others)')
    expect(truncated.map(({ section }) => section)).toContain('Part 59')
    const told = truncated.reduce((sum, { tokens }) => sum + tokens, 0)
    expect(told).toBeGreaterThan((tokensOf(loaded) - 3000) * 0.7)
    expect(told).toBeLessThan((tokensOf(loaded) - 3000) * 1.3 + 300)
  })

  it('omits the text of the frontmatter first, because the field `frontmatter` also contains the text', () => {
    const loaded = loadDocument(sample)
    const result = toBudget(loaded, tokensOf(loaded) - 1)
    expect(result.fullContent!.startsWith('# Tables')).toBe(true)
    expect(result.frontmatter).toEqual(loaded.frontmatter)
    expect(result.truncated).toEqual([{ section: '(frontmatter)', tokens: expect.any(Number) }])
  })

  it('is created from only a limited part of an enormous document', () => {
    const loaded = loadDocument(`# Long\n\n${'A line of a long document.\n\n'.repeat(80_000)}`)
    const result = toBudget(loaded, 200_000)
    expect(countTokens(result.fullContent!)).toBeLessThanOrEqual(200_000)
    expect(result.fullContent!.length).toBeGreaterThan(200_000)
    expect(result.truncated.map(({ section }) => section)).toContain('(rest)')
  })
})

describe('tokens', () => {
  it('are never counted lower than by an independent tokenizer', () => {
    expect(countTokens(sample)).toBe(countIndependently(sample))
    fc.assert(
      fc.property(fc.oneof(anyDocument, fc.string({ unit: 'binary', maxLength: 300 })), (text) => {
        const json = JSON.stringify(text)
        expect(countTokens(json)).toBeGreaterThanOrEqual(countIndependently(json))
      }),
      { numRuns: 60 },
    )
  })

  it('are estimated instead of counted for very long runs of repeated characters', () => {
    for (const run of ['a', '=', 'é', ' ', 'ก', '\u0301', '=\n', '-|', 'Aa']) {
      const text = `before ${run.repeat(600)} after`
      expect(countTokens(text), run).toBeGreaterThanOrEqual(countIndependently(text))
      expect(countTokens(`${text}${run.repeat(400_000)}`), run).toBeGreaterThan(100_000)
    }
  })
})

describe('truncating a skill in a worker thread', () => {
  const loaded = loadDocument(sample)
  const order = { loaded, maxTokens: 400, priority: ['Options'] }

  it('returns the same result as in the main thread', async () => {
    const url = new URL('../../packages/core/src/catalogue/skills/truncate-worker.ts', import.meta.url)
    const threads = new WorkerPool<LoadedSkill, TruncateOrder>({ start: () => new Worker(url) })
    expect(await threads.ask(order)).toEqual(await truncateHere(order))
    expect(await truncateSkill(order)).toEqual(await truncateHere(order))
  })

  it('falls back to the main thread if the worker is broken, and fails temporarily on a timeout', async () => {
    expect(await truncateSkill(order, { ask: async () => 'broken' })).toEqual(await truncateHere(order))
    await expect(truncateSkill(order, { ask: async () => 'late' })).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 5,
    })
  })
})

function linesOf(text: string): string[] {
  return text.split(/\r?\n/)
}
