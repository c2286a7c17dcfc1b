import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { checkSync } from 'recheck'
import { describe, expect, it } from 'vitest'
import { readTraits, listExpressions } from '../../packages/scanner/src/match/traits.ts'
import { categories, type Pattern } from '../../packages/scanner/src/match/rule.ts'
import { builtInDocuments } from '../../packages/scanner/src/rules/built-in.ts'
import { builtInRules } from '../../packages/scanner/src/rules/prepared-rules.ts'
import { BuiltInDocument, type Example } from '../../packages/scanner/src/rules/rule-document.ts'
import { allRules, builtInIds, facts, rules } from '../../packages/scanner/src/rules/rule-table.ts'
import { Scan } from '../../packages/scanner/src/scan-files.ts'

const folder = new URL('../../packages/scanner/src/rules/data/', import.meta.url)
const fileNames = readdirSync(folder).toSorted()
const data = builtInDocuments.flatMap((document) => document.rules ?? [])
const withExamples = data.flatMap((rule) => ('examples' in rule ? [rule] : []))
const toText = (example: Example) => (typeof example === 'string' ? example : example.text)

/** The rules that find something in an example. */
function findRules(example: Example): string[] {
  const scan = new Scan([typeof example === 'string' ? { path: 'SKILL.md', text: example } : example], builtInRules)
  for (const _ of scan.run());
  const { findings } = scan.toSecurity(0)
  return findings.filter(({ signal }) => signal !== 'none').map(({ ruleId }) => ruleId)
}

describe.each(withExamples)('the rule $id', ({ id, examples }) => {
  it.each(examples.hit.map((each) => [toText(each), each] as const))('finds: %s', (_, example) => {
    expect(findRules(example)).toContain(id)
  })

  it.each(examples.miss.map((each) => [toText(each), each] as const))('lets pass: %s', (_, example) => {
    expect(findRules(example)).not.toContain(id)
  })
})

describe('the files of rules', () => {
  it.each(builtInDocuments)('match the schema of rule files: %#', (document) => {
    expect(() => v.parse(BuiltInDocument, document)).not.toThrow()
  })

  it('have unique ids, and name only existing ids in combinations', () => {
    const ids = [...allRules, ...facts].map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    const named = data.flatMap((rule) => ('combination' in rule ? rule.combination.all.flat() : []))
    expect(named.filter((id) => !builtInIds.has(id))).toEqual([])
  })

  it('have a rule for every category, each with a title, a reason, a remediation and a source', () => {
    const found = new Set(allRules.map(({ category }) => category))
    expect(categories.filter((category) => !found.has(category))).toEqual([])
    for (const { id, title, why, remediation, references } of allRules) {
      expect.soft(title, id).toMatch(/^[A-Z].*[^.]$/)
      for (const sentence of [why, remediation]) expect.soft(sentence, id).toMatch(/^[A-Z].*\.$/)
      expect.soft(references, id).not.toEqual([])
    }
  })

  it('define each named part once, and use every named part', () => {
    const names = builtInDocuments.flatMap(({ parts = {} }) => Object.keys(parts))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    const texts = [...listTexts(builtInDocuments)].join('\n')
    expect(names.filter((name) => !texts.includes(`{${name}}`))).toEqual([])
  })

  it('have no expression over 200 characters, so that people can read every expression', () => {
    const ofRules = data.map((rule) => [
      'patterns' in rule ? rule.patterns : [],
      'code' in rule && rule.code ? rule.code : [],
    ])
    const all = [...listTexts([builtInDocuments.map(({ parts, facts: each }) => [parts, each]), ofRules])]
    expect(all.filter(({ length }) => length > 200)).toEqual([])
  })

  it('have no line over 120 characters', () => {
    const lines = fileNames.flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
    expect(lines.filter(({ length }) => length > 120)).toEqual([])
  })

  it('are listed in the documentation', () => {
    const path = new URL('../../docs/scanner.md', import.meta.url)
    const text = readFileSync(path, 'utf8')
    const rows = builtInDocuments.flatMap(({ rules: all = [], parts = {}, names: lists }, index) => {
      if (lists) return []
      const ids = all.map(({ id }) => `\`${id}\``).join(', ')
      const names = Object.keys(parts).map((name) => `\`{${name}}\``)
      return `| ${fileNames[index]!.replace('.yaml', '')} | ${ids} | ${names.join(', ')} |`
    })
    const table = ['| file | rules | named parts |', '|---|---|---|', ...rows].join('\n')
    const listed = text.replace(/(?<=<!-- rules: begin -->\n)[^]*(?=<!-- rules: end -->)/, () => `\n${table}\n\n`)
    if (process.env['WRITE_DOCS']) writeFileSync(path, listed)
    expect(readFileSync(path, 'utf8'), 'Run this test with WRITE_DOCS=1.').toBe(listed)
  })
})

function* listTexts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (value !== null && typeof value === 'object') for (const each of Object.values(value)) yield* listTexts(each)
}

const patterns = [...rules, ...facts].flatMap(({ id, patterns: all }) =>
  all.map((pattern, index) => ({ name: `${id} ${index}`, pattern })),
)
const toMatch = (pattern: Pattern) => ('match' in pattern ? pattern.match : pattern)
const expressions = patterns.flatMap(({ name, pattern }) =>
  listExpressions(toMatch(pattern)).map((expression, part) => ({ name: `${name} ${part}`, expression })),
)

describe('the patterns of rules', () => {
  it.each(patterns)(
    '$name has anchor texts, and matches no text longer than the overlap of two text chunks',
    ({ pattern }) => {
      expect(() => readTraits(pattern)).not.toThrow()
    },
  )

  /** Repetitions are bounded, so the worst case is polynomial in a bound; unbounded growth is not allowed. */
  it.each(expressions)('$name cannot be made to backtrack without limit', ({ expression }) => {
    expect(new RegExp(`^(?:${expression.source})$`, 'i').test('')).toBe(false)
    expect(expression.source.replace(/\\.|\[(?:\\.|[^\]])*\]/g, 'x')).not.toMatch(/\{\d+,\}|[x)\w][*+](?!\w*\))/)
    const { status } = checkSync(expression.source, 'i', { timeout: 2000, checker: 'automaton' })
    expect(status).not.toBe('vulnerable')
  })
})
