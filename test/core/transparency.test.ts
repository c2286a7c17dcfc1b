import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits } from '@skillstead/protocol'
import { toEntryText } from '@skillstead/core/internal'
import {
  appendLeaf,
  foldProof,
  emptyRoot,
  hashLeaf,
  rootOf,
  toInclusionRanges,
  toNodes,
  toRoot,
  type LeafRange,
} from '../../packages/core/src/log/merkle.ts'
import { isNoteName, toSignatureLine, toVerifierKey } from '../../packages/core/src/log/signed-notes.ts'
import { parseTilePath } from '../../packages/core/src/log/tiles.ts'
import { naiveLeaf, naivePath, naiveProof, naiveRoot } from '../support/naive-tree.ts'

/** The leaves with which implementations of RFC 6962 have been tested since the first one, and their roots. */
const vectors = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const
const inputs = vectors.map(([leaf]) => Buffer.from(leaf, 'hex'))

const toHex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))
const resolve = (ranges: readonly LeafRange[], entries: readonly Uint8Array[]) =>
  ranges.map(({ start, end }) => naiveRoot(entries.slice(start, end)))
const makeEntries = (count: number) => Array.from({ length: count }, (_, i) => Buffer.from(`entry ${i}`))

describe('the Merkle tree', () => {
  it('has the roots of the published test vectors at every size', () => {
    expect(emptyRoot.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(toRoot([])).toEqual(emptyRoot)
    const frontier: Buffer[] = []
    inputs.forEach((input, i) => {
      appendLeaf(frontier, i, hashLeaf(input))
      expect(toRoot(frontier).toString('hex')).toBe(vectors[i]![1])
      expect(naiveRoot(inputs.slice(0, i + 1)).toString('hex')).toBe(vectors[i]![1])
    })
  })

  it.each([
    [0, 1, []],
    [
      0,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      5,
      8,
      [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
  ])('proves the published leaf %i of %i', (index, size, path) => {
    expect(toHex(resolve(toInclusionRanges(index, size), inputs))).toEqual(path)
  })

  it.each([
    [1, 1, []],
    [
      1,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      6,
      8,
      [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
    [
      2,
      5,
      [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
  ])('proves that the published tree of %i leaves is a prefix of that of %i', (older, size, proof) => {
    expect(toHex(naiveProof(older, inputs.slice(0, size)))).toEqual(proof)
  })

  it('grows leaf by leaf to the same tree as a full computation, at every size to 300', () => {
    const entries = makeEntries(300)
    const frontier: Buffer[] = []
    const completed: string[] = []
    entries.forEach((entry, i) => {
      const told: string[] = []
      appendLeaf(frontier, i, hashLeaf(entry), (level, node) => {
        told.push(`${level}`)
        expect(node).toEqual(naiveRoot(entries.slice(i + 1 - 2 ** level, i + 1)))
      })
      completed.push(told.join())
      expect(toRoot(frontier)).toEqual(naiveRoot(entries.slice(0, i + 1)))
      expect(frontier).toHaveLength((i + 1).toString(2).replaceAll('0', '').length)
    })
    expect(completed.slice(0, 8)).toEqual(['', '1', '', '1,2', '', '1', '', '1,2,3'])
    expect(rootOf(entries.map(naiveLeaf))).toEqual(naiveRoot(entries))
  })

  const tree = fc
    .integer({ min: 1, max: 300 })
    .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }))

  it('proves each leaf of each size to 300 as in RFC 6962', () => {
    fc.assert(
      fc.property(tree, ({ size, index }) => {
        const entries = makeEntries(size)
        const ranges = toInclusionRanges(index, size)
        const path = resolve(ranges, entries)
        expect(path).toEqual(naivePath(index, entries))
        expect(foldProof(naiveLeaf(entries[index]!), index, ranges, path)).toEqual(naiveRoot(entries))
      }),
    )
  })

  it('divides each range of leaves into complete subtrees', () => {
    fc.assert(
      fc.property(tree, ({ size, index }) => {
        for (const range of toInclusionRanges(index, size)) {
          let at = range.start
          for (const { level, index: position } of toNodes(range)) {
            expect(position * 2 ** level).toBe(at)
            at += 2 ** level
          }
          expect(at).toBe(range.end)
        }
      }),
    )
  })
})

describe('the path of a tile', () => {
  it.each([
    ['0/000', 0, 0, 256],
    ['0/x001/x234/067', 0, 1_234_067, 256],
    ['1/999.p/255', 1, 999, 255],
    ['63/x001/000.p/1', 63, 1000, 1],
    ['entries/x999/x999/x999/x999/999', 'entries', 999_999_999_999_999, 256],
  ] as const)('%s is the path of one tile', (path, level, n, width) => {
    expect(parseTilePath(path)).toEqual({ level, n, width })
  })

  const malformed = [
    '',
    '0',
    '0/',
    '0/1',
    '0/0000',
    '00/000',
    '64/000',
    '-1/000',
    '0/x000/001',
    '0/001/002',
    '0/x001',
    '0/x001/x002',
    '0/000.p/0',
    '0/000.p/256',
    '0/000.p/01',
    '0/000.p/',
    '0/000.p',
    '0/000/p/1',
    '0/000.p/1/',
    '/0/000',
    '0/000 ',
    'entries',
    'entries/1',
    'Entries/000',
    'leaves/000',
    '0/x001/x000/x000/x000/x000/000',
    '8/0/000',
    '0/٠٠٠',
  ]
  it.each(malformed)('%j is not the path of a tile', (path) => {
    expect(parseTilePath(path)).toBeUndefined()
  })
})

const read = (text: string) => (JSON.parse(text) as { data: Record<string, unknown> }).data
/** Text of one repeated character: JSON writes these in one, two, three, four and six bytes. */
const repeated = (max: number) =>
  fc.tuple(fc.constantFrom('a', 'é', '中', '👍', '\u0001', '"', '\n'), fc.nat(max)).map(([one, n]) => one.repeat(n))

describe('the text of an entry', () => {
  const at = '2026-01-02T12:00:00.000Z'
  const toEntry = (data: Record<string, unknown>) => ({
    seq: 7,
    type: 'version',
    at,
    subject: 'alice/pdf@1.0.0',
    digest: null,
    data,
  })
  const make = (data: Record<string, unknown>) => toEntryText(toEntry(data))

  it('contains all data if the data fits into the entry', () => {
    const files = Array.from({ length: 300 }, (_, i) => ({ path: `${i}.md`, size: i, digest: 'sha256:0' }))
    const data = { files, changelog: 'x'.repeat(20_000), description: '' }
    expect(read(make(data))).toEqual(data)
  })

  it('omits the file list first if there is too much data, and names the omitted field', () => {
    const files = Array.from({ length: 512 }, (_, i) => ({ path: `${i}`.padEnd(255, 'p'), size: i }))
    const changelog = 'x'.repeat(20_000)
    expect(read(make({ files, changelog }))).toEqual({ files: null, changelog, cut: ['files'] })
  })

  it('shortens a long field without splitting a character, and names the shortened field', () => {
    const { changelog, cut } = read(make({ changelog: '👩‍🔬'.repeat(20_000) }))
    expect(cut).toEqual(['changelog'])
    expect(changelog).toMatch(/^(?:👩|\u200d|🔬)+…$/u)
    expect(Buffer.byteLength(JSON.stringify(changelog))).toBeGreaterThan(16_300)
  })

  const data = fc.record({
    files: fc.nat(512).map((n) => Array.from({ length: n }, () => ({ path: '\u0001'.repeat(255), size: n }))),
    changelog: repeated(20_000),
    description: repeated(20_000),
    keywords: fc.array(repeated(64), { maxLength: 32 }),
    repository: repeated(2_000),
    deprecationMessage: repeated(1_000),
    displayName: repeated(20_000),
    license: repeated(20_000),
    category: repeated(20_000),
    skill: fc.record({ id: repeated(36), name: repeated(64), fullName: repeated(104) }),
  })

  it('never exceeds the size limit, whatever its data, and is complete if the data fits', () => {
    fc.assert(
      fc.property(data, (some) => {
        const text = make(some)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.logEntryBytesMax)
        expect(read(text)['skill']).toEqual(some.skill)
        // Canonical JSON is as long as any other JSON without white space.
        const isLong = Buffer.byteLength(JSON.stringify(toEntry(some))) > limits.logEntryBytesMax
        expect('cut' in read(text)).toBe(isLong)
      }),
    )
  })
})

describe('a signed note', () => {
  // A key and a note from the documentation of Go's package for signed notes.
  const vkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
  const line =
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM='

  it('has the key and signature format of the example in the documentation of Go', () => {
    const publicKey = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1)
    const signature = Buffer.from(line.split(' ')[2]!, 'base64').subarray(4)
    expect(toVerifierKey('PeterNeumann', publicKey)).toBe(vkey)
    expect(toSignatureLine('PeterNeumann', publicKey, signature)).toBe(line)
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verify(null, Buffer.from(text), key, signature)).toBe(true)
  })

  it.each(['node.example', 'skillstead-0192', 'example.com/log', 'münchen.example'])('accepts the name %s', (name) => {
    expect(isNoteName(name)).toBe(true)
  })

  it.each(['', 'a b', 'a+b', 'a\nb', 'a\u00a0b', 'a\u2003', 'a\u0000', 'a\ud800'])('refuses the name %j', (name) => {
    expect(isNoteName(name)).toBe(false)
  })
})
