import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import { describe, expect, it } from 'vitest'
import { AnchorTable, toAnchorTables } from '../../packages/scanner/src/text/anchors.ts'
import { contextCharacters, foldText } from '../../packages/scanner/src/text/fold.ts'
import { readTraits, toExpressions } from '../../packages/scanner/src/match/match.ts'
import { readPattern } from '../../packages/scanner/src/match/read-pattern.ts'
import { containing, together, within } from '../../packages/scanner/src/match/pattern-tags.ts'
import { regex, regexWith } from '../../packages/scanner/src/text/regex.ts'
import { allRules, codeRules } from '../../packages/scanner/src/rules/rule-table.ts'
import { categories, type Pattern } from '../../packages/scanner/src/match/rule.ts'
import { Search } from '../../packages/scanner/src/match/search.ts'
import { toTables } from '../../packages/scanner/src/match/search-tables.ts'
import { combinations, facts, rules } from '../../packages/scanner/src/rules/text-rules.ts'

const patterns = [...rules, ...facts].flatMap(({ id, patterns: all }) =>
  all.map((pattern, index) => ({ name: `${id} ${index}`, pattern })),
)
const toMatch = (pattern: Pattern) => ('match' in pattern ? pattern.match : pattern)
const expressions = patterns.flatMap(({ name, pattern }) => {
  return toExpressions(toMatch(pattern)).map((expression, part) => ({ name: `${name} ${part}`, expression }))
})

describe('the table of rules', () => {
  it('has unique kebab-case ids for rules, facts and combinations', () => {
    const ids = [...allRules, ...facts].map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.filter((id) => !/^[a-z]+(?:-[a-z0-9]+)*$/.test(id))).toEqual([])
  })

  it('has a title, a reason and a remediation for each rule', () => {
    for (const { id, title, why, remediation, references, category } of allRules) {
      expect.soft(title, id).toMatch(/^[A-Z].*[^.]$/)
      expect.soft(why, id).toMatch(/^[A-Z].*\.$/)
      expect.soft(remediation, id).toMatch(/^[A-Z].*\.$/)
      expect.soft(references.length, id).toBeGreaterThan(0)
      for (const address of references) expect.soft(URL.canParse(address), `${id} ${address}`).toBe(true)
      expect.soft(categories).toContain(category)
    }
  })

  it('has a rule for every category', () => {
    const found = new Set(allRules.map(({ category }) => category))
    expect(categories.filter((category) => !found.has(category))).toEqual([])
  })

  it('combines only existing rules and facts', () => {
    const ids = new Set([...rules, ...facts, ...codeRules].map(({ id }) => id))
    const named = combinations.flatMap(({ id, all }) => all.flat().map((part) => ({ id, part })))
    expect(named.filter(({ part }) => !ids.has(part))).toEqual([])
    for (const { all } of combinations) expect(all.length).toBeGreaterThan(1)
  })

  it('is listed in the documentation', () => {
    const path = new URL('../../docs/scanner.md', import.meta.url)
    const text = readFileSync(path, 'utf8')
    const rows = allRules.map(
      ({ id, category, severity, signal, title }) => `| \`${id}\` | ${category} | ${severity} | ${signal} | ${title} |`,
    )
    const table = ['| rule | category | severity | signal | finds |', '|---|---|---|---|---|', ...rows.toSorted()].join(
      '\n',
    )
    const listed = text.replace(/(?<=<!-- rules: begin -->\n)[^]*(?=<!-- rules: end -->)/, () => `\n${table}\n\n`)
    if (process.env['WRITE_DOCS']) writeFileSync(path, listed)
    expect(readFileSync(path, 'utf8'), 'Run this test with WRITE_DOCS=1.').toBe(listed)
  })
})

describe('the source of the scanner', () => {
  const folder = new URL('../../packages/scanner/src/', import.meta.url)

  it('has no line over 160 characters, so that a person can review every expression', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    const long = files.filter((path) => /^.{161,}$/m.test(readFileSync(new URL(path, folder), 'utf8')))
    expect(files.length).toBeGreaterThan(0)
    expect(long).toEqual([])
  })
})

describe('an expression composed with regex', () => {
  const secrets = ['tokens?', 'api keys']

  it.each([
    [regex`a (b|c)\(x\)[(](?=d)`, 'a (?:b|c)\\(x\\)[(](?=d)'],
    [
      regex`one|
        two`,
      'one|two',
    ],
    [regex`\bsend ${secrets}${/x|y/}?`, '\\bsend (?:tokens?|api keys)(?:x|y)?'],
    [regex`a {word} {0-3 words}b`, 'a \\w{1,16} (?:\\w{1,16} ){0,3}?b'],
    [regex`{0-30 in sentence}{2-60 in line}`, '[^.!?\\uE000]{0,30}?[^\\n\\uE000]{2,60}?'],
  ])('%s is the source %s', (expression, source) => {
    expect(expression.source).toBe(source)
  })

  it('has the flags of regexWith', () => {
    expect(regexWith('gi')`(a|b)`).toEqual(/(?:a|b)/gi)
  })

  it('becomes a flow with within, and has the anchors of containing', () => {
    const stop = /\./
    const flow = { first: /send/, last: /(?:a|b) key/, stop, withinMax: 40 }
    expect(within(40, stop)`send … (a|b) key`).toEqual(flow)
    expect(within(40, stop, 'a key|b key')`send … (a|b) key`).toEqual({ anchors: ['a key', 'b key'], match: flow })
    expect(containing(['key'])`(a|b) key`).toEqual({ anchors: ['key'], match: /(?:a|b) key/ })
  })
})

describe('a pattern composed with together', () => {
  const probe = { id: 'a', patterns: [together(60, /[.](?=\s)/, /\bnot\b/)`red fox … jump(s|ed) … dog`] }
  const search = new Search([probe], toTables([probe.patterns.map(readTraits)]))
  const find = (text: string) => {
    const hits = [
      ...search.find(
        text,
        () => true,
        () => undefined,
      ),
    ].flat()
    return hits.map(({ start, end }) => text.slice(start, end))
  }

  it.each([
    ['A red fox jumped over the dog.', ['red fox jumped over the dog']],
    ['Over the dog jumped a red fox. It ran.', ['dog jumped a red fox']],
    ['A red fox. It jumped over the dog.', []],
    ['A red fox did not jump; he jumps over no dog.', []],
    ['A red fox jumps the dog. A dog jumps a red fox.', ['red fox jumps the dog', 'dog jumps a red fox']],
    [`A red fox ${'very '.repeat(20)}far jumps the dog`, []],
  ])('finds its parts in any order within a sentence: %s', (text, found) => {
    expect(find(text)).toEqual(found)
  })
})

describe('the patterns', () => {
  it.each(patterns)('$name matches at most the overlap of two pieces, and never the empty text', ({ pattern }) => {
    const distances = readTraits(pattern).needs.flatMap((need) => need.distances)
    expect(Math.max(...distances)).toBeLessThanOrEqual(contextCharacters)
    for (const expression of toExpressions(toMatch(pattern)))
      expect(new RegExp(`^(?:${expression.source})$`, 'i').test('')).toBe(false)
    const anchors = 'match' in pattern ? pattern.anchors : []
    expect(() => toAnchorTables(anchors)).not.toThrow()
  })

  /** Repetitions are bounded, so the worst case is polynomial in a bound; unbounded growth is not allowed. */
  it.each(expressions)('$name cannot be made to backtrack without limit', ({ expression }) => {
    expect(expression.source.replace(/\\.|\[(?:\\.|[^\]])*\]/g, 'x')).not.toMatch(/\{\d+,\}|[x)\w][*+](?!\w*\))/)
    const { status } = checkSync(expression.source, 'i', { timeout: 2000, checker: 'automaton' })
    expect(status).not.toBe('vulnerable')
  })
})

describe('what an expression needs', () => {
  it.each([
    [/\bcurl\s?(?:http|ftps)?\.net/, ['curl 4 13', '.net 13 4']],
    [/(?:never|do not) (?!tell)say{2,3} \w{1,9}/, ['never sa 8 21, do not sa 9 22']],
    [
      /api[_ -]?keys? (?:a|bc|def) \d/,
      ['apikey 6 13, api_key 7 14, api key 7 14, api-key 7 14', ' a  11 4,  bc  12 5,  def  13 6'],
    ],
    [/(?:send|upload)s?\d{2}|post\d/, ['send 4 7, upload 6 9, post 4 5']],
    [/x?[abc]\d(?:abc){0,2}|one/, []],
  ] as const)('of %s is returned with its distance from both ends', (expression, expected) => {
    const needs = readPattern(expression).needs.map((need) => {
      return need.map(({ text, before, behind }) => `${text} ${before} ${behind}`).join(', ')
    })
    expect(needs).toEqual(expected)
  })

  it.each([
    [/[^\n\uE000]{2}\w\s?/, 'lines'],
    [/[^\n\uE000] (?=[^]\n)a/, 'nothing'],
    [/a[^.]b/, 'passages'],
    [/\w(?![^x])\uE000/, 'passages'],
  ] as const)('includes what a match of %s may cross', (expression, crossing) => {
    expect(readPattern(expression).crosses).toBe(crossing)
  })
})

describe('the anchors', () => {
  const texts = ['abcd', 'bcd', 'bcde', 'xyz', 'aaa', '忽略']
  const table = new AnchorTable(toAnchorTables(texts))
  const find = (text: string) => {
    const found: string[] = []
    for (const { codes, size } of foldText(text)) {
      table.find(codes, size)
      for (let at = 0; at < table.size; at++) found.push(`${texts[table.texts[at]!]}@${table.ends[at]}`)
    }
    return found
  }

  it('are found at every position, inside each other and in capitals', () => {
    expect(find('zABCDe xYz').toSorted()).toEqual(['abcd@5', 'bcd@5', 'bcde@6', 'xyz@10'])
    expect(find('aaaa')).toEqual(['aaa@3', 'aaa@4'])
    expect(find('请忽略')).toEqual(['忽略@3'])
    expect(find('abc bcx')).toEqual([])
  })

  it('are compared in full, although digits and punctuation share a class', () => {
    const similar = new AnchorTable(toAnchorTables(['key3.db', '.env', 'a/b:']))
    const found: string[] = []
    for (const { codes, size } of foldText('key4.db key3.db ,env .env a-b: a/b:')) {
      similar.find(codes, size)
      for (let at = 0; at < similar.size; at++) found.push(`${similar.texts[at]}@${similar.ends[at]}`)
    }
    expect(found.toSorted()).toEqual(['0@15', '1@25', '2@35'])
  })

  it('must be at least three bytes in lower case', () => {
    for (const anchor of ['ab', 'ABC', '']) expect(() => toAnchorTables([anchor])).toThrow(TypeError)
  })
})
