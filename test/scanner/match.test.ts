import { describe, expect, it } from 'vitest'
import { AnchorTable, toAnchorTables } from '../../packages/scanner/src/text/anchors.ts'
import { foldText } from '../../packages/scanner/src/text/fold.ts'
import { readTraits } from '../../packages/scanner/src/match/match.ts'
import { readPattern } from '../../packages/scanner/src/match/read-pattern.ts'
import { containing, together, within } from '../../packages/scanner/src/match/pattern-tags.ts'
import { regex, regexWith } from '../../packages/scanner/src/text/regex.ts'
import { Search } from '../../packages/scanner/src/match/search.ts'
import { toTables } from '../../packages/scanner/src/match/search-tables.ts'

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
