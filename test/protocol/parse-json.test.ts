import { parseForeignJson } from '@skillstead/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('JSON of strangers', () => {
  it('is what the parser makes of it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseForeignJson(text)).toEqual(JSON.parse(text))
      }),
    )
    const tricky = { 'a"{[': '\\', 'b\\': '\\"[[[', c: '['.repeat(1000) }
    expect(parseForeignJson(JSON.stringify(tricky))).toEqual(tricky)
  })

  it('is refused where it nests deeper than anything honest, whatever its strings hold', () => {
    for (const text of [
      '['.repeat(200),
      `${'['.repeat(200)}${']'.repeat(200)}`,
      `${'{"a":[],"x":'.repeat(13_000)}1${'}'.repeat(13_000)}`,
      `["\\\\",${'['.repeat(200)}`,
    ]) {
      expect(() => parseForeignJson(text)).toThrow('The JSON nests deeper than 128 levels.')
    }
  })

  it('is refused where it holds more values than asked for, whatever its strings hold', () => {
    expect(parseForeignJson('{"a,,,[[[":[1,2]}', { valuesMax: 4 })).toEqual({ 'a,,,[[[': [1, 2] })
    for (const text of ['[1,2,3,4]', '{"a":[1,2,3]}', '[[],[],[]]'])
      expect(() => parseForeignJson(text, { valuesMax: 4 })).toThrow('The JSON has more than 4 values.')
    expect(() => parseForeignJson(`[${'0,'.repeat(1_000_000)}0]`)).toThrow('The JSON has more than 1000000 values.')
  })

  it('is refused where it is none', () => {
    for (const text of ['', '{', '"\\"', '{"a":1,}']) expect(() => parseForeignJson(text)).toThrow(SyntaxError)
  })
})
