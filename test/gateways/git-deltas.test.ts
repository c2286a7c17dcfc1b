import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDeltaWriter } from '../../packages/gateways/src/git/deltas.ts'
import { createGeneratedText, type TextForm } from '../../packages/gateways/src/git/generated-text.ts'
import { type BlobSource, PackEntries } from '../../packages/gateways/src/git/pack-entries.ts'
import { planPack, writePack } from '../../packages/gateways/src/git/pack-stream.ts'
import type { Commit } from '../../packages/gateways/src/git/repository.ts'
import { selectChanges } from '../../packages/gateways/src/git/scope-changes.ts'
import { openHistoryWriter } from '../../packages/gateways/src/git/scope-history.ts'
import { applyDelta, readEntries, readPack } from '../support/git-client.ts'

interface Item {
  readonly key: string
  readonly part: string
}

/** A frame depends on the number of calls. */
function createForm(): TextForm<Item> {
  let calls = 0
  return {
    kind: 'blob',
    toFrames: () => [Buffer.from('['), Buffer.from(`] ${Math.floor(calls++ / 3)}`)],
    toKey: ({ key }) => key,
    toPart: ({ part }) => Buffer.from(part),
  }
}

/** The parts with the last value of each key, in the order of the keys. */
function join(pairs: [string, string][]): string {
  const sorted = [...new Map(pairs)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([, part]) => part).join('')
}

describe('a generated file of a commit', () => {
  const item = fc.record({ key: fc.string({ maxLength: 3 }), part: fc.string({ maxLength: 300 }) })

  it('contains the last text of each item, in the order of the keys', () => {
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const text = createGeneratedText(createForm())
        for (const one of items) text.put(one)
        const pairs = items.map(({ key, part }): [string, string] => [key, part])
        expect(Buffer.from(text.toBytes()).toString()).toBe(`[${join(pairs)}] 0`)
      }),
    )
  })

  it('can be rebuilt from the file of the previous commit and a delta', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (items) => {
        const text = createGeneratedText(createForm())
        text.toHash()
        // The frames must be those of the last hash.
        let bytes: Buffer = Buffer.from('[] 0')
        for (const one of items) {
          const { id, size, delta } = text.change(one)
          bytes = applyDelta(bytes, Buffer.from(delta))
          expect(bytes).toHaveLength(size)
          expect(createHash('sha1').update(`blob ${size}\0`).update(bytes).digest('hex')).toBe(id)
        }
      }),
    )
  })
})

it('a delta copies and inserts any number of bytes', () => {
  const lengths = fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(65_535, 65_536, 65_537, 140_000))
  const base = Buffer.from(Array.from({ length: 340_000 }, (_, i) => (i * 7919) % 251))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 200_000 }), lengths), { maxLength: 6 }), (steps) => {
      const writer = createDeltaWriter()
      const parts = steps.map(([copies, at, bytes]) => {
        if (copies) writer.copy(at, bytes)
        else writer.insert(base.subarray(at, at + bytes))
        return base.subarray(at, at + bytes)
      })
      const target = Buffer.concat(parts)
      expect(applyDelta(base, writer.end(base.length, target.length)).equals(target)).toBe(true)
    }),
    { numRuns: 30 },
  )
})

const toVersion = (n: number, skills: number, size = 100) => ({
  id: `v${n}`,
  digest: `d${n}`,
  version: `1.0.${Math.floor(n / skills)}`,
  size,
  owner: 'ann',
  name: `skill-${n % skills}`,
  publishedAt: n * 1000,
})

/** `history`: newest first. */
async function pack(
  history: readonly Commit[],
  commits: readonly Commit[],
  known: readonly Commit[],
  { isThin = false, readsOffsets = false } = {},
) {
  const client = { known, isThin, readsOffsets, shallow: [], unshallow: [] }
  const selection = { history: history.toReversed(), commits, tags: [], ...client }
  const plan = await planPack(selection, { readContent, charge: async () => {} })
  const chunks: Uint8Array[] = []
  for await (const chunk of writePack(new PackEntries(noBlobs), plan, { readContent })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const toId = (kind: string, bytes: Buffer) =>
  createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')

const readContent = async ({ digest }: { readonly digest: string }) => {
  return [{ kind: 'tree' as const, id: createHash('sha1').update(digest).digest('hex'), bytes: Buffer.from(digest) }]
}
const noBlobs: BlobSource = { async *read() {}, readPart: () => expect.unreachable() }

describe('a long git history', () => {
  it('has no long chain of deltas', async () => {
    const writer = await openHistoryWriter({ name: 'ann', base: [], last: undefined })
    const commits: Commit[] = []
    for (let n = 0; n < 200; n++) {
      const version = toVersion(n, 40)
      const change = {
        ...version,
        folder: version.name,
        tree: createHash('sha1').update(version.id).digest('hex'),
        isPluginRoot: false,
        description: `Does ${n}`,
        license: 'MIT',
        keywords: [],
      }
      commits.unshift(writer.append(change).commit)
    }
    const whole = await pack(commits, commits, [], { readsOffsets: true })
    const deltas = readEntries(whole).filter(({ kind }) => kind === 'delta')
    // Three texts for each commit, of which every 65th is whole.
    expect(deltas).toHaveLength(3 * (200 - Math.ceil(200 / 65)))
    expect(deltas.every(({ base }) => typeof base === 'number')).toBe(true)
    const objects = readPack(whole)
    // Clients that read no offsets get deltas whose base is whole.
    const plain = await pack(commits, commits, [])
    const { delta = [], other = [] } = Object.groupBy(readEntries(plain), ({ kind }) =>
      kind === 'delta' ? kind : 'other',
    )
    const wholeIds = new Set(other.map(({ kind, bytes }) => toId(kind, bytes)))
    expect(delta).toHaveLength(3 * 100)
    expect(delta.every(({ base }) => wholeIds.has(String(base)))).toBe(true)
    expect(new Set(readPack(plain).keys())).toEqual(new Set(objects.keys()))
    for (const commit of [0, 17, 199].map((i) => commits[i]!)) {
      for (const { id } of commit.texts) expect(objects.has(id)).toBe(true)
    }
    const [recent, older] = [commits.slice(0, 100), commits.slice(100)]
    const had = readPack(await pack(commits, older, []))
    for (const client of [{}, { isThin: true }, { readsOffsets: true }, { isThin: true, readsOffsets: true }]) {
      const added = readPack(await pack(commits, recent, older.slice(0, 1), client), had)
      expect(new Set([...had, ...added].map(([id]) => id))).toEqual(new Set(objects.keys()))
    }
  })

  it.each([
    ['commits', 4, 100, 6000],
    ['entries of trees', 400, 100, 6000],
    ['bytes of files', 3, 50_000, 6000],
  ])('is limited by %s, and mostly continues', async (_, skills, size, publications) => {
    const versions = Array.from({ length: publications }, (__, n) => toVersion(n, skills, size))
    let starts = 0
    let last = 0
    for (let n = 5500; n <= publications; n += 20) {
      const { base, changes } = await selectChanges(versions.slice(0, n))
      expect(changes.length).toBeLessThanOrEqual(4096)
      expect(changes.length * skills).toBeLessThanOrEqual(2 ** 20)
      expect(changes.length * size).toBeLessThanOrEqual(2 ** 27)
      expect(changes.length).toBeGreaterThan(500)
      expect(base).toHaveLength(skills)
      const start = n - changes.length
      if (n > 5500 && start !== last) starts += 1
      last = start
    }
    expect(starts).toBeLessThanOrEqual(1)
  })
})
