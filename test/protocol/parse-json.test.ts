import { parseForeignJson } from '@skillstead/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('parsing of untrusted JSON', () => {
  it('returns the same value as JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseForeignJson(text)).toEqual(JSON.parse(text))
      }),
    )
    const tricky = { 'a"{[': '\\', 'b\\': '\\"[[[', c: '['.repeat(1000) }
    expect(parseForeignJson(JSON.stringify(tricky))).toEqual(tricky)
  })

  it('rejects JSON that nests deeper than 128 levels, ignoring brackets in strings', () => {
    for (const text of [
      '['.repeat(200),
      `${'['.repeat(200)}${']'.repeat(200)}`,
      `${'{"a":[],"x":'.repeat(13_000)}1${'}'.repeat(13_000)}`,
      `["\\\\",${'['.repeat(200)}`,
    ]) {
      expect(() => parseForeignJson(text)).toThrow('The JSON nests deeper than 128 levels.')
    }
  })

  it('rejects JSON with too many values, ignoring commas in strings', () => {
    expect(parseForeignJson('{"a,,,[[[":[1,2]}', { valuesMax: 4 })).toEqual({ 'a,,,[[[': [1, 2] })
    for (const text of ['[1,2,3,4]', '{"a":[1,2,3]}', '[[],[],[]]'])
      expect(() => parseForeignJson(text, { valuesMax: 4 })).toThrow('The JSON has more than 4 values.')
    expect(() => parseForeignJson(`[${'0,'.repeat(1_000_000)}0]`)).toThrow('The JSON has more than 1000000 values.')
  })

  it('rejects text that is not JSON', () => {
    for (const text of ['', '{', '"\\"', '{"a":1,}']) expect(() => parseForeignJson(text)).toThrow(SyntaxError)
  })
})
