import { describe, expect, it } from 'vitest'
import { foldText } from '../../packages/scanner/src/text/fold.ts'
import { readExpression } from '../../packages/scanner/src/match/read-expression.ts'
import type { Pattern } from '../../packages/scanner/src/match/rule.ts'
import { regex } from '../../packages/scanner/src/text/regex.ts'
import { Search, type Hit } from '../../packages/scanner/src/match/search.ts'
import { TextFinder } from '../../packages/scanner/src/match/text-finder.ts'

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
  ])('%s has the source %s', (expression, source) => {
    expect(expression.source).toBe(source)
  })
})

/** Everything that is found in a text, and the probes that were not searched to the end. */
function searchAll(search: Search, text: string): { hits: Hit[]; cut: number[] } {
  const cut: number[] = []
  const hits = [
    ...search.find(
      text,
      () => true,
      (probe) => cut.push(probe),
    ),
  ].flat()
  return { hits, cut }
}

function findOne(pattern: Pattern, text: string): string[] {
  const { hits } = searchAll(new Search([{ id: 'a', patterns: [pattern] }]), text)
  return hits.map(({ start, end }) => text.slice(start, end))
}

describe('the texts that an expression needs', () => {
  it.each([
    [/\bcurl\d?(?:http|ftps)?\.net/, ['curl 4 13', '.net 13 8']],
    [/\bgit\s[\s_]?push/, ['git push|git  push|git _push 9 9']],
    [/(?:never|do not) (?!tell)say{2,3} \w{1,9}/, ['never sa|do not sa 9 22']],
    [/api[_ -]?keys? (?:a|bc|def) \d/, ['apikey|api_key|api key|api-key 7 14', ' a | bc | def  13 7']],
    [/(?:send|upload)s?\d{2}|post\d/, ['send|upload|post 7 9']],
    [/x?[abc]\d(?:abc){0,2}|one/, []],
    [/(?:abc){2}\d(?<same>x)\k<same>/, ['abc 6 Infinity']],
  ] as const)('of %s are returned with their distance from both ends of a match', (expression, expected) => {
    const needs = readExpression(expression).needs.map(
      ({ texts, before, after }) => `${texts.join('|')} ${before} ${after}`,
    )
    expect(needs).toEqual(expected)
  })

  it.each([
    [/fox\b(?=.{3}(?:ab|c)d)/, 6],
    [/(?<=red )fox/, 0],
    [/fox(?! (?=dog))/, 4],
  ] as const)('come with the distance that %s looks ahead', (expression, ahead) => {
    expect(readExpression(expression).ahead).toBe(ahead)
  })
})

describe('a search for patterns', () => {
  it('finds the same matches as a plain regular expression', () => {
    const expression = /\w{1,9} (?:red|lazy) (?:\w{1,9} ){0,3}(?:fox|dog)\b/
    const text = 'A very red and quick fox. The lazy dog; some red dogs, a red, lazy hot dog\n'.repeat(2000)
    expect(findOne(expression, text)).toEqual(text.match(new RegExp(expression, 'g')))
  })

  it('finds a match only near an anchor text of its pattern', () => {
    const pattern = { anchors: ['fox'], match: /\d{4} \w{3}/ }
    expect(findOne(pattern, `1234 fox ${' '.repeat(3)}${'a '.repeat(500)}1234 dog`)).toEqual(['1234 fox'])
  })

  it('reports a rule whose pattern would be tried on more than 4 Mi characters of one text', () => {
    const search = new Search([{ id: 'a', patterns: [/fox \w{9}/] }])
    expect(searchAll(search, 'fox cat dog '.repeat(450_000)).cut).toEqual([0])
  })

  it.each(['fox', 'fox ', 'fo', 'fox dog', 'f o x ', 'x'.repeat(40)])('completes for a mebibyte of %j', (unit) => {
    const search = new Search([
      { id: 'a', patterns: [/(?:\w{1,16} ){0,3}fox (?:\w{1,16} ){0,3}dog!/] },
      { id: 'b', patterns: [{ first: /fox/, last: /dog!/, stop: /;/, withinMax: 400 }] },
    ])
    expect(searchAll(search, unit.repeat(2 ** 20 / unit.length))).toEqual({ hits: [], cut: [] })
  })
})

function findTexts(texts: readonly string[], text: string): string[] {
  const finder = new TextFinder(texts)
  return [...foldText(text)].flatMap(({ codes, size }) => {
    finder.find(codes, size)
    return finder.found.flatMap((number) => finder.startsOf[number]!.map((at) => `${texts[number]}@${at}`))
  })
}

describe('the search for many texts at once', () => {
  it('finds texts at every position, nested or overlapping, in lower and upper case', () => {
    const texts = ['abcd', 'bcd', 'bcde', 'xyz', 'aaa', '忽略', 'длина']
    expect(findTexts(texts, 'zABCDe xYz').toSorted()).toEqual(['abcd@1', 'bcd@2', 'bcde@2', 'xyz@7'])
    expect(findTexts(texts, 'aaaa')).toEqual(['aaa@0', 'aaa@1'])
    expect(findTexts(texts, '请忽略')).toEqual(['忽略@1'])
    expect(findTexts(texts, 'ДЛИНА')).toEqual(['длина@0'])
    expect(findTexts(texts, 'abc bcx')).toEqual([])
  })

  it('distinguishes texts that differ in one digit or punctuation mark', () => {
    const texts = ['key3.db', '.env', 'a/b:', 'a long text of words']
    const text = 'key4.db key3.db ,env .env a-b: a/b: a long text of works, a long text of words'
    expect(findTexts(texts, text)).toEqual(['key3.db@8', '.env@21', 'a/b:@31', 'a long text of words@58'])
    expect(findTexts(texts, 'a long text')).toEqual([])
  })

  it('refuses texts of less than three bytes, texts with capitals, and too many texts', () => {
    for (const anchor of ['ab', 'ABC', '']) expect(() => new TextFinder([anchor])).toThrow(TypeError)
    const many = Array.from({ length: 10_000 }, (_, number) => `${number}-anchor`.padStart(12, 'x'))
    expect(() => new TextFinder(many)).toThrow('too many')
  })
})
