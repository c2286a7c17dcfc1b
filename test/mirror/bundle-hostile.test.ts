import { readFile, writeFile } from 'node:fs/promises'
import { gzipSync, zstdDecompressSync } from 'node:zlib'
import type { Registry } from '@skillstead/core'
import { toDigest } from '@skillstead/skill-format/archives'
import { createBundle, verifyBundle, type BundleHeader } from '@skillstead/mirror'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { alter, compress, makeFile, type Part } from '../support/bundle-acts.ts'
import { openTestMirror } from '../support/mirror-acts.ts'

const damaged = (why: string | RegExp) =>
  new RegExp(
    `^The bundle is damaged: ${typeof why === 'string' ? why : why.source}\\. Copy it again, or create it again\\.$`,
  )

/** The bytes of a small bundle, and the registry that can sign more of them. */
async function makeBundle(): Promise<{ registry: Registry; file: string }> {
  const { registry, user } = await openTestMirror({ origin: 'origin.example' })
  const alice = await user('alice')
  for (const name of ['tea', 'cake', 'jam']) await alice.publishSkill({ skillMd: skillMd(name) })
  const file = await makeFile()
  await createBundle(registry, file)
  return { registry, file }
}

/** What a bundle says where it is taken, and the sentence where it is not. */
async function tryBundle(file: string): Promise<string> {
  try {
    const { header, signers } = await verifyBundle(file)
    return JSON.stringify({ header, signers })
  } catch (error) {
    return (error as Error).message
  }
}

describe('a damaged bundle', () => {
  it('is rejected if one byte was changed, unless the change leaves the uncompressed data the same', async () => {
    const { file } = await makeBundle()
    const bytes = await readFile(file)
    const right = await tryBundle(file)
    const altered = await makeFile()
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const other = Buffer.from(bytes)
        other[at] = other[at]! ^ change
        await writeFile(altered, other)
        const said = await tryBundle(altered)
        expect(said === right || /^(?:The bundle is damaged|This file is not a bundle)/.test(said), said).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('is rejected if one byte of the uncompressed archive was changed', async () => {
    const { file } = await makeBundle()
    const bytes = zstdDecompressSync(await readFile(file))
    const altered = await makeFile()
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const other = Buffer.from(bytes)
        other[at] = other[at]! ^ change
        await writeFile(altered, compress(other))
        await expect(verifyBundle(altered)).rejects.toThrow(/./)
      }),
      { numRuns: 200 },
    )
  })

  it('is rejected if it is truncated or has data after its end', async () => {
    const { file } = await makeBundle()
    const bytes = await readFile(file)
    const unpacked = zstdDecompressSync(bytes)
    const altered = await makeFile()
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(unpacked.length - 1), async (packedLength, length) => {
        await writeFile(altered, bytes.subarray(0, packedLength))
        await expect(verifyBundle(altered)).rejects.toThrow(/^(?:The bundle is damaged|This file is not a bundle)/)
        await writeFile(altered, compress(unpacked.subarray(0, length)))
        await expect(verifyBundle(altered)).rejects.toThrow(/^The bundle is damaged/)
      }),
      { numRuns: 60 },
    )
    await writeFile(altered, compress(Buffer.concat([unpacked, Buffer.alloc(512)])))
    expect((await refusalOf(verifyBundle(altered))).message).toMatch(damaged('it has data after its end'))
  })
})

describe('a file that is not a readable bundle', () => {
  it.each<[what: string, bytes: Buffer, sentence: RegExp]>([
    ['an empty file', Buffer.alloc(0), /^This file is not a bundle: it is not compressed/],
    [
      'a page',
      Buffer.from('<html><h1>Sign in to our Wi-Fi</h1></html>'),
      /^This file is not a bundle: it is not compressed/,
    ],
    ['another archive', gzipSync('tar'), /^This file is not a bundle: it is not compressed/],
    [
      'something else that is compressed',
      compress(Buffer.alloc(4096, 'x')),
      /^The bundle is damaged: it has an invalid file header/,
    ],
  ])('such as %s, is rejected with an error message', async (_, bytes, sentence) => {
    const file = await makeFile()
    await writeFile(file, bytes)
    expect((await refusalOf(verifyBundle(file))).message).toMatch(sentence)
  })

  it('is reported as missing if it does not exist, and as a folder if the path is a folder', async () => {
    expect((await refusalOf(verifyBundle('/nowhere/at.all'))).message).toBe('/nowhere/at.all does not exist.')
    expect((await refusalOf(verifyBundle('/tmp'))).message).toBe('/tmp is a folder, not a bundle.')
  })

  it('is rejected with the advice to update Skillstead if a later version created the bundle', async () => {
    const { registry, file } = await makeBundle()
    const later = await alter(registry, file, (_, header) => void Object.assign(header, { version: 2 }))
    expect((await refusalOf(verifyBundle(later))).message).toBe(
      'This bundle has version 2, but this program reads version 1. Update Skillstead to import it.',
    )
  })
})

/** What an attacker can do who has the signing key of the node, or can use it. */
interface Lie {
  readonly what: string
  readonly change: (parts: Part[], header: BundleHeader) => Part[] | void
  readonly sentence: string | RegExp
}

const blob = (text: string): Part => ({
  name: `blobs/${toDigest(text).slice('sha256:'.length)}`,
  bytes: Buffer.from(text),
})
const counts = (header: BundleHeader, changes: Partial<BundleHeader['counts']>) =>
  void Object.assign(header.counts, changes)
const firstLine = (part: Part) => Buffer.from(part.bytes).toString().split('\n')
const setLines = (part: Part, lines: string[]) => void (part.bytes = Buffer.from(lines.join('\n')))

const lies: readonly Lie[] = [
  {
    what: 'has its parts in another order',
    change: ([header, signature, log, ...blobs]) => [header!, signature!, ...blobs, log!],
    sentence: /its log ends at entry 0 of 3/,
  },
  {
    what: 'has no signature',
    change: (parts) => parts.filter(({ name }) => name !== 'bundle.sig'),
    sentence: "'log/1\\.ndjson' is in the wrong place",
  },
  {
    what: 'has no log',
    change: (parts) => parts.filter(({ name }) => !name.startsWith('log/')),
    sentence: 'its log ends at entry 0 of 3',
  },
  {
    what: 'lacks content',
    change: (parts) => parts.slice(0, -1),
    sentence: 'it has 2 of 3 blobs',
  },
  {
    what: 'has content twice',
    change: (parts, header) => (counts(header, { blobs: 4, bytes: 1e6 }), [...parts, parts.at(-1)!]),
    sentence: /the blob sha256:[0-9a-f]{64} occurs twice/,
  },
  {
    what: 'has its content in another order',
    change: (parts) => {
      const blobs = parts.slice(3)
      return [...parts.slice(0, 3), blobs[1]!, blobs[0]!, ...blobs.slice(2)]
    },
    sentence: /the blob sha256:[0-9a-f]{64} is in the wrong place/,
  },
  {
    what: 'has content that no version needs',
    change: (parts, header) => (counts(header, { blobs: 4, bytes: 1e6 }), [...parts, blob('spam')]),
    sentence: /no entry names the blob sha256:[0-9a-f]{64}/,
  },
  {
    what: 'has more content than it says',
    change: (parts) => [...parts, blob('spam')],
    sentence: 'it has more content than its header states',
  },
  {
    what: 'has other bytes under a digest',
    change: (parts) => void (parts.at(-1)!.bytes = Buffer.from(parts.at(-1)!.bytes).fill('x', 0, 1)),
    sentence: /the blob sha256:[0-9a-f]{64} was altered/,
  },
  {
    what: 'has a path that leads elsewhere',
    change: (parts) => [...parts, { name: '../../etc/passwd', bytes: Buffer.from('x') }],
    sentence: "'\\.\\./\\.\\./etc/passwd' is in the wrong place",
  },
  {
    what: 'has a link in it',
    change: (parts) => [...parts, { name: `blobs/${'0'.repeat(64)}`, bytes: Buffer.alloc(0), type: 'symlink' }],
    sentence: 'it has an invalid file header',
  },
  {
    what: 'has a name that another header replaces',
    change: (parts) => [...parts, { name: 'x', bytes: Buffer.alloc(0), pax: { path: `blobs/${'0'.repeat(64)}` } }],
    sentence: /it has an invalid file header|'.*' is in the wrong place/,
  },
  {
    what: 'has a file that is larger than one may be',
    change: (parts) => [...parts, { name: `blobs/${'0'.repeat(64)}`, bytes: Buffer.alloc(11 * 1024 * 1024) }],
    sentence: "'blobs/0{64}' has 11534336 bytes; the maximum is 10485760",
  },
  {
    what: 'has a part of the log that is larger than one may be',
    change: (parts) => void (parts[2]!.bytes = Buffer.alloc(5 * 1024 * 1024, '{}\n')),
    sentence: "'log/1\\.ndjson' has 5242880 bytes; the maximum is 4194304",
  },
  {
    what: 'has lines without number in a part of the log',
    change: (parts) => void (parts[2]!.bytes = Buffer.alloc(1024 * 1024, '\n')),
    sentence: "'log/1\\.ndjson' is not a part of a log",
  },
  {
    what: 'has what is not UTF-8 text in its log',
    change: (parts) => void (parts[2]!.bytes = Buffer.from([0xff, 0xfe, 0x0a])),
    sentence: "'log/1\\.ndjson' is not UTF-8 text",
  },
  {
    what: 'lacks an entry',
    change: (parts) => setLines(parts[2]!, firstLine(parts[2]!).toSpliced(1, 1)),
    sentence: 'its entry 2 is invalid or in the wrong place',
  },
  {
    what: 'has two entries swapped',
    change: (parts) => {
      const [first, second, ...rest] = firstLine(parts[2]!)
      setLines(parts[2]!, [second!, first!, ...rest])
    },
    sentence: 'its entry 1 is invalid or in the wrong place',
  },
  {
    what: 'has an entry that says something else',
    change: (parts) =>
      setLines(
        parts[2]!,
        firstLine(parts[2]!).map((line) => line.replace('alice/tea', 'alice/pea')),
      ),
    sentence: 'its entries are not the 3 entries that origin\\.example signed',
  },
  {
    what: 'has an entry that reads in two ways',
    change: (parts) =>
      setLines(
        parts[2]!,
        firstLine(parts[2]!).map((line) => line.replace('{', '{"seq":1,')),
      ),
    sentence: 'its entry 1 is invalid or in the wrong place',
  },
  {
    what: 'has more entries than it says',
    change: (parts) => setLines(parts[2]!, [firstLine(parts[2]!)[0]!, ...firstLine(parts[2]!)]),
    sentence: 'it has more entries than its header states',
  },
  {
    what: 'claims another position',
    change: (_, header) => void Object.assign(header, { since: 1, frontier: ['A'.repeat(43) + '='] }),
    sentence: 'its positions contradict each other',
  },
  {
    what: 'claims to follow on other entries',
    change: (parts, header) => {
      Object.assign(header, { since: 1, frontier: ['A'.repeat(43) + '='] })
      counts(header, { entries: 2, versions: 2, complete: 2 })
      setLines(parts[2]!, firstLine(parts[2]!).slice(1))
      parts[2]!.name = 'log/2.ndjson'
      parts.splice(3, 1)
      counts(header, { blobs: 2 })
    },
    sentence: 'its entries are not the 3 entries that origin\\.example signed',
  },
  {
    what: 'is of another log than its checkpoint',
    change: (_, header) => void Object.assign(header, { origin: 'other.example' }),
    sentence: 'its header names the log other\\.example, but its checkpoint origin\\.example',
  },
]

describe('a manipulated bundle, which', () => {
  it.each(lies.map((lie) => [lie.what, lie] as const))('%s, is rejected', async (_, { change, sentence }) => {
    const { registry, file } = await makeBundle()
    const altered = await alter(registry, file, change)
    expect((await refusalOf(verifyBundle(altered))).message).toMatch(damaged(sentence))
  })

  it('decompresses to a huge size, is rejected at its first part that is too large', async () => {
    const file = await makeFile()
    await writeFile(file, compress(Buffer.alloc(256 * 1024 * 1024)))
    expect((await refusalOf(verifyBundle(file))).message).toMatch(damaged('it has data after its end'))
  })
})
