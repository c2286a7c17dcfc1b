import { toContentDigest, verifyFiles, verifyProvenance, type ContentFile } from '@skillstead/client/verify'
import { localApi, openRegistry, rotateKey, systemCaller } from '@skillstead/core'
import type { Provenance } from '@skillstead/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from './answers.ts'
import { toCanonical } from './canonical.ts'
import { createNoteSigner } from './note-signer.ts'
import { readKeys } from './signed-log.ts'

const toFile = (path: string, text: string): ContentFile => ({ path, bytes: Buffer.from(text) })
const content = [
  toFile('SKILL.md', skillMd('tea')),
  toFile('a.txt', 'The first file.'),
  toFile('b/c.txt', 'The second file.'),
]

/** Every place of a JSON value that something can be put in. */
function listPlaces(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => listPlaces(inner, [...path, key]))]
}

function changeAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[key] = changeAt(copy[key], rest, change)
  return copy
}

/** What can become of a value: a character or number more or less, another kind of thing, a field more or less. */
const changes = fc.oneof(
  fc.jsonValue().map((other) => () => other),
  fc.tuple(fc.nat(), fc.string({ minLength: 1, maxLength: 1 })).map(([pick, character]) => (value: unknown) => {
    if (typeof value !== 'string') return typeof value === 'number' ? value + (pick % 2 === 0 ? 1 : -1) : null
    const at = pick % (value.length + 1)
    return value.slice(0, at) + character + value.slice(at + (pick % 3 === 0 ? 0 : 1))
  }),
  fc.tuple(fc.nat(), fc.string(), fc.jsonValue()).map(([pick, key, inner]) => (value: unknown) => {
    if (Array.isArray(value)) return pick % 2 === 0 ? [...value, value[0] ?? inner] : value.toReversed()
    if (typeof value !== 'object' || value === null) return inner
    const keys = Object.keys(value)
    const dropped = keys[pick % keys.length]!
    return pick % 2 === 0
      ? { ...value, [key]: inner }
      : Object.fromEntries(Object.entries(value).filter(([one]) => one !== dropped))
  }),
)

describe('a provenance record', () => {
  let record: Provenance
  let unlogged: Provenance
  let turning: Provenance
  let keys: string[]
  beforeAll(async () => {
    const registry = await openRegistry({ path: ':memory:', origin: 'node.example', works: false })
    await localApi(registry, systemCaller).createUser({ username: 'alice' })
    await localApi(registry, systemCaller).createUser({ username: 'bob' })
    const alice = localApi(registry, await registry.getCaller('alice'))
    const bob = localApi(registry, await registry.getCaller('bob'))
    const files = content.slice(1).map(({ path, bytes }) => ({ path, content: Buffer.from(bytes).toString() }))
    await bob.publishSkill({ skillMd: skillMd('source') })
    await alice.forkSkill({ name: 'bob/source', newName: 'tea' })
    for (let i = 0; i < 9; i++) await bob.publishSkill({ skillMd: skillMd(`other-${i}`) })
    await alice.publishSkill({ skillMd: skillMd('tea'), files })
    await alice.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    await bob.publishSkill({ skillMd: skillMd('later') })
    keys = await readKeys(alice)
    record = await alice.getProvenance({ name: 'tea' })
    unlogged = await alice.getProvenance({ name: 'secret' })
    await rotateKey(registry)
    turning = await alice.getProvenance({ name: 'tea' })
    await registry.close()
  })

  const partsOf = (changed: unknown, files?: readonly ContentFile[]) =>
    verifyProvenance(changed, { keys, content: files }).problems.map(({ part }) => part)
  const edit = (change: (log: NonNullable<Provenance['log']>) => object) => ({
    ...record,
    log: { ...record.log, ...change(record.log!) },
  })

  it('is verified with the public key alone, its content with it', () => {
    const report = verifyProvenance(record, { keys, content })
    expect(report).toMatchObject({
      ok: true,
      problems: [],
      contentChecked: true,
      entry: { subject: 'alice/tea@1.0.1' },
    })
    expect(verifyProvenance(JSON.parse(JSON.stringify(record)), { keys }).ok).toBe(true)
    expect(verifyProvenance(unlogged, { keys })).toMatchObject({ ok: true, entry: null, contentChecked: false })
    expect(record.forkChain).toHaveLength(1)
  })

  it('is refused with anything in it changed, added or taken away', () => {
    for (const original of [record, unlogged]) {
      const places = listPlaces(original)
      fc.assert(
        fc.property(fc.constantFrom(...places), changes, (place, change) => {
          const changed = changeAt(original, place, change)
          fc.pre(toCanonical(changed) !== toCanonical(original))
          const { ok, problems } = verifyProvenance(changed, { keys })
          expect(ok).toBe(false)
          expect(problems.length).toBeGreaterThan(0)
          for (const { message } of problems) expect(message).toMatch(/^[^\n]+[.:]/)
        }),
        { numRuns: 1500 },
      )
    }
  })

  it('names each field that was changed by what does not match any more', () => {
    const other = Buffer.alloc(32, 9).toString('base64')
    const later = '2030-01-01T00:00:00.000Z'
    expect({
      skill: partsOf({ ...record, skill: { ...record.skill, id: record.publisher.id } }),
      name: partsOf({ ...record, skill: { ...record.skill, fullName: 'bob/tea' } }),
      version: partsOf({ ...record, version: '9.9.9' }),
      digest: partsOf({ ...record, digest: unlogged.digest }),
      publisher: partsOf({ ...record, publisher: { ...record.publisher, id: record.skill.id } }),
      username: partsOf({ ...record, publisher: { ...record.publisher, username: 'mallory' } }),
      publishedAt: partsOf({ ...record, publishedAt: later }),
      firstPublishedAt: partsOf({ ...record, firstPublishedAt: later }),
      authorVerified: partsOf({ ...record, authorVerified: ['github'] }),
      forkChain: partsOf({ ...record, forkChain: [] }),
      origin: partsOf({ ...record, origin: { ...record.origin, kind: 'mirror' } }),
      noLog: partsOf({ ...record, log: null }),
      signature: partsOf({ ...record, signature: unlogged.signature }),
      'log.origin': partsOf(edit(() => ({ origin: 'other.example' }))),
      'log.index': partsOf(edit(({ index }) => ({ index: index - 1 }))),
      'log.treeSize': partsOf(edit(({ treeSize }) => ({ treeSize: treeSize - 1 }))),
      'log.leafHash': partsOf(edit(() => ({ leafHash: other }))),
      'log.rootHash': partsOf(edit(() => ({ rootHash: other }))),
      'log.inclusionProof': partsOf(edit(({ inclusionProof }) => ({ inclusionProof: inclusionProof.with(1, other) }))),
      'log.checkpoint': partsOf(edit(({ checkpoint }) => ({ checkpoint: checkpoint.replace('\n', '\n1') }))),
      'log.entry': partsOf(edit(({ entry }) => ({ entry: entry.replace('alice', 'mallory') }))),
    }).toEqual({
      skill: ['signature', 'entry'],
      name: ['signature'],
      version: ['signature', 'entry'],
      digest: ['signature', 'entry'],
      publisher: ['signature', 'entry'],
      username: ['signature'],
      publishedAt: ['signature', 'entry'],
      firstPublishedAt: ['signature'],
      authorVerified: ['signature'],
      forkChain: ['signature'],
      origin: ['signature'],
      noLog: ['signature'],
      signature: ['signature'],
      'log.origin': ['checkpoint'],
      'log.index': ['inclusion', 'entry'],
      'log.treeSize': ['checkpoint', 'inclusion'],
      'log.leafHash': ['leaf', 'inclusion'],
      'log.rootHash': ['checkpoint', 'inclusion'],
      'log.inclusionProof': ['inclusion'],
      'log.checkpoint': ['checkpoint'],
      'log.entry': ['leaf'],
    })
  })

  it('with the proof of another version is refused, though both are genuine', () => {
    const { problems } = verifyProvenance({ ...unlogged, log: record.log }, { keys })
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('The signature of the record by the key node.example+'),
      expect.stringContaining('The log entry has the digest'),
      expect.stringContaining('The log entry has the version 1.0.1, and the record has 1.0.0.'),
      expect.stringContaining('The log entry has the skill'),
      expect.stringContaining('The log entry has the time of publication'),
    ])
  })

  it('is never verified by a key that it brings along', () => {
    const mallory = createNoteSigner('node.example')
    const { log, signature, ...fields } = { ...record, authorVerified: ['domain'] }
    const text = `${toCanonical(fields)}\n`
    const [note] = log!.checkpoint.split('\n\n')
    const forged = { ...fields, log: { ...log, checkpoint: mallory.note(`${note}\n`) }, signature: mallory.sign(text) }
    expect(verifyProvenance(forged, { keys: [mallory.vkey] }).ok, 'it is well made').toBe(true)
    const { problems } = verifyProvenance(forged, { keys })
    expect(problems.map(({ part, message }) => [part, message.includes(mallory.id)])).toEqual([
      ['signature', true],
      ['checkpoint', true],
    ])
    expect(partsOf({ ...record, key: mallory.vkey })).toEqual(['record'])
    expect(verifyProvenance({ ...forged, signature: signature + forged.signature }, { keys }).ok).toBe(false)
  })

  it('is refused where an entry of the log is no canonical JSON', () => {
    const twice = record.log!.entry.replace('{"at"', '{"at":"2000-01-01T00:00:00.000Z","at"')
    const { problems } = verifyProvenance(
      edit(() => ({ entry: twice })),
      { keys },
    )
    expect(problems.map(({ part }) => part)).toEqual(['leaf', 'entry'])
    expect(problems[1]!.message).toBe('The log entry is none of a version: it is no canonical JSON.')
  })

  it('is verified with either key while one follows the other', () => {
    expect(verifyProvenance(turning, { keys })).toMatchObject({ ok: true, signers: [{ name: 'node.example' }] })
    expect(turning.signature.match(/\u2014/g)).toHaveLength(2)
  })

  describe('of a mirror', () => {
    const mirror = createNoteSigner('mirror.example')
    /** As a mirror gives it: the log proof of the node that it was published to, and the mirror's own signature. */
    const relay = (change: object = {}, signer = mirror): Provenance => {
      const origin = { kind: 'mirror' as const, upstream: 'node', syncedAt: '2026-01-02T12:00:00.000Z' }
      const { log, signature: _own, ...fields } = { ...record, origin, ...change }
      return { ...fields, log, signature: signer.sign(`${toCanonical(fields)}\n`) }
    }
    const unproven = ['firstPublishedAt', 'authorVerified', 'forkChain', 'origin']

    it('is verified with the key of the node it was published to, and names what the mirror alone says', () => {
      const report = verifyProvenance(relay(), { keys, content })
      expect(report).toMatchObject({ ok: true, signers: [], contentChecked: true, unproven })
      expect(verifyProvenance(record, { keys })).toMatchObject({ unproven: [] })
    })

    it('is verified whole with the keys of both', () => {
      const both = { keys: [...keys, mirror.vkey], content }
      expect(verifyProvenance(relay(), both)).toMatchObject({
        ok: true,
        signers: [{ name: 'mirror.example' }],
        unproven: [],
      })
      const altered = { ...relay(), authorVerified: ['domain'] }
      expect(verifyProvenance(altered, both).problems.map(({ part }) => part)).toEqual(['signature'])
      expect(verifyProvenance(altered, { keys })).toMatchObject({ ok: true, unproven })
      const stranger = createNoteSigner('mirror.example')
      expect(verifyProvenance(relay({}, stranger), both).problems.map(({ part }) => part)).toEqual(['signature'])
    })

    it('is refused without the key of the node it was published to', () => {
      const { problems } = verifyProvenance(relay(), { keys: [mirror.vkey] })
      expect(problems.map(({ part }) => part)).toEqual(['checkpoint'])
      expect(problems[0]!.message).toContain('is by the key node.example+')
    })

    it.each([
      ['another name', () => ({ skill: { ...record.skill, fullName: 'alice/pdf' } }), 'the name alice/tea'],
      [
        'another publisher',
        () => ({ publisher: { ...record.publisher, username: 'mallory' } }),
        "the publisher's name alice",
      ],
      ['another time', () => ({ publishedAt: '2020-01-01T00:00:00.000Z' }), 'the time of publication'],
      ['other content', () => ({ digest: `sha256:${'0'.repeat(64)}` }), 'the digest'],
    ])('is refused with %s than the log has', (_, change, sentence) => {
      const { problems } = verifyProvenance(relay(change()), { keys })
      expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(`The log entry has ${sentence}`)])
    })

    it('is refused where it says that it is none, has no log, or the signature has the name of the log', () => {
      expect(partsOf(relay({ origin: record.origin }))).toEqual(['signature'])
      expect(partsOf(relay({ log: null }))).toEqual(['signature'])
      expect(partsOf(relay({}, createNoteSigner('node.example')))).toEqual(['signature'])
      expect(partsOf({ ...relay(), signature: 'nothing' })).toEqual(['signature'])
    })
  })

  it('is refused with keys that are none, before anything else is looked at', () => {
    expect(verifyProvenance(record, { keys: ['nonsense'] }).problems).toMatchObject([
      { part: 'key', message: "'nonsense' is no verifier key, which reads NAME+HASH+BASE64." },
    ])
    expect(verifyProvenance(record, { keys: [] }).ok).toBe(false)
  })

  it('may be anything at all, and nothing of it is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        expect(verifyProvenance(anything, { keys }).ok).toBe(false)
      }),
    )
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
    expect(partsOf(deep)).toEqual(['record'])
    expect(partsOf({ ...record, origin: { ...record.origin, more: deep } })).toEqual(['record'])
    expect(partsOf({ ...record, skill: { ...record.skill, fullName: '\ud800' } })).toEqual(['record'])
    expect(partsOf(JSON.parse(JSON.stringify(record).replace('{', '{"__proto__":{"ok":true},')))).toEqual(['record'])
  })

  describe('and its content', () => {
    it.each([
      ['altered', content.with(1, toFile('a.txt', 'The FIRST file.')), 'a.txt was altered'],
      ['missing', content.slice(0, 2), 'b/c.txt is missing'],
      ['added', [...content, toFile('more.txt', '')], 'more.txt does not belong to it'],
      [
        'under another name',
        content.with(1, toFile('A.txt', 'The first file.')),
        'a.txt is missing, A.txt does not belong to it',
      ],
      ['empty', [], 'SKILL.md is missing, a.txt is missing, b/c.txt is missing'],
    ])('is refused where a file is %s', (_, files, sentence) => {
      const { problems } = verifyProvenance(record, { keys, content: files })
      expect(problems.map(({ part }) => part)).toEqual(['content'])
      expect(problems[0]!.message).toMatch(new RegExp(`and not ${record.digest}: ${sentence}\\.$`))
    })

    it('is the same in any order of its files', () => {
      expect(toContentDigest(content.toReversed())).toBe(record.digest)
      expect(() => verifyFiles(content.toReversed(), record.digest)).not.toThrow()
    })

    it('is not one file whose path pretends to be two', () => {
      const listed = verifyProvenance(record, { keys, content })
      const [, first, second] = listed.ok ? listed.entry!.data.files! : []
      const path = `a.txt\n${second!.digest} ${second!.size} b/c.txt`
      expect(first!.path).toBe('a.txt')
      const files = [content[0]!, { path, bytes: content[1]!.bytes }]
      expect(verifyProvenance(record, { keys, content: files }).problems[0]!.message).toMatch(
        /^No version has the path "a\.txt\\n/,
      )
    })

    it('names ten of the files that differ, and how many more', () => {
      const more = Array.from({ length: 25 }, (_, i) => toFile(`more-${i}.txt`, ''))
      const { problems } = verifyProvenance(record, { keys, content: [...content, ...more] })
      expect(problems[0]!.message).toContain('more-9.txt does not belong to it, and 15 more.')
      expect(problems[0]!.message).not.toContain('more-10.txt')
    })
  })
})
