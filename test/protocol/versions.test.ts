import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions, isVersion, nextPatch, parseVersion, toVersionSortKey } from '@skillstead/protocol'

const part = fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 9_999_999_998 }))
const version = fc.tuple(part, part, part).map((parts) => parts.join('.'))

describe('versions', () => {
  it('are three dot-separated whole numbers that parse to the same text', () => {
    fc.assert(fc.property(version, (text) => void expect(parseVersion(text)?.join('.')).toBe(text)))
  })

  it('are compared numerically, not as text', () => {
    expect(['1.10.0', '1.9.0', '10.0.0', '2.0.0', '1.9.10', '1.9.9'].toSorted(compareVersions)).toEqual([
      '1.9.0',
      '1.9.9',
      '1.9.10',
      '1.10.0',
      '2.0.0',
      '10.0.0',
    ])
  })

  it('are ordered by the first of their three numbers that differs', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [first, second] = [parseVersion(a)!, parseVersion(b)!]
        const differing = first.findIndex((number, i) => number !== second[i])
        const expected = differing === -1 ? 0 : Math.sign(first[differing]! - second[differing]!)
        expect(Math.sign(compareVersions(a, b))).toBe(expected)
        expect(Math.sign(compareVersions(b, a)) + expected).toBe(0)
      }),
    )
  })

  it('have a database key that sorts by code unit in the same order', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [first, second] = [toVersionSortKey(a), toVersionSortKey(b)]
        const byKey = first === second ? 0 : first < second ? -1 : 1
        expect(byKey).toBe(Math.sign(compareVersions(a, b)))
      }),
    )
  })

  it('have a next patch that is the next higher version', () => {
    fc.assert(
      fc.property(version, (text) => {
        const next = nextPatch(text)
        expect(compareVersions(next, text)).toBe(1)
        expect(parseVersion(next)!.slice(0, 2)).toEqual(parseVersion(text)!.slice(0, 2))
      }),
    )
  })

  it.each([
    '',
    '1',
    '1.0',
    '1.0.0.0',
    '01.0.0',
    '1.00.0',
    '1.0.00',
    '-1.0.0',
    '1.0.0-beta',
    '1.0.0+build',
    'v1.0.0',
    ' 1.0.0',
    '1.0.0\n',
    '1.0.x',
    '1..0',
    '１.0.0',
    '1.0.12345678901',
    '1e3.0.0',
  ])('reject %j', (text) => {
    expect(isVersion(text)).toBe(false)
    expect(parseVersion(text)).toBeUndefined()
    expect(() => compareVersions(text, '1.0.0')).toThrow(TypeError)
    expect(() => nextPatch(text)).toThrow(TypeError)
  })

  it('are distinguished from any other text without an exception', () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(isVersion(text)).toBe(parseVersion(text) !== undefined)))
  })
})
