import { verifyProvenance, type ContentFile } from '@skillstead/client/verify'
import type { Provenance } from '@skillstead/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { toCanonical } from '../support/canonical.ts'
import { createNoteSigner } from '../support/note-signer.ts'
import { content, makeRecords, type Records } from '../support/provenance-records.ts'

/** All paths of a JSON value at which a value can be replaced. */
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

/** Changes of a value: one character or number more or less, another type, an added or a missing field. */
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
  let { record, unlogged, turning, keys } = {} as Records
  beforeAll(async () => {
    ;({ record, unlogged, turning, keys } = await makeRecords())
  })

  const partsOf = (changed: unknown, files?: readonly ContentFile[]) =>
    verifyProvenance(changed, { keys, content: files }).problems.map(({ part }) => part)
  const edit = (change: (log: NonNullable<Provenance['log']>) => object) => ({
    ...record,
    log: { ...record.log, ...change(record.log!) },
  })

  it('is verified, with its content, if only the public key of the node is given', () => {
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

  it('is rejected if any field was changed, added or removed', () => {
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

  it('fails the check that belongs to the changed field', () => {
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

  it('is rejected if its proof is the valid proof of another version', () => {
    const { problems } = verifyProvenance({ ...unlogged, log: record.log }, { keys })
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('The signature of the record by the key node.example+'),
      expect.stringContaining('The log entry has the digest'),
      expect.stringContaining('The log entry has the version 1.0.1, but the record has 1.0.0.'),
      expect.stringContaining('The log entry has the skill'),
      expect.stringContaining('The log entry has the time of publication'),
    ])
  })

  it('is never verified by a key that the record itself contains', () => {
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

  it('is rejected if the log entry is not canonical JSON', () => {
    const twice = record.log!.entry.replace('{"at"', '{"at":"2000-01-01T00:00:00.000Z","at"')
    const { problems } = verifyProvenance(
      edit(() => ({ entry: twice })),
      { keys },
    )
    expect(problems.map(({ part }) => part)).toEqual(['leaf', 'entry'])
    expect(problems[1]!.message).toBe('The log entry is not one of a version: the entry is not canonical JSON.')
  })

  it('is verified with the old or the new key during a key rotation', () => {
    expect(verifyProvenance(turning, { keys })).toMatchObject({ ok: true, signers: [{ name: 'node.example' }] })
    expect(turning.signature.match(/\u2014/g)).toHaveLength(2)
  })

  it('is rejected before any other check if the given keys are invalid', () => {
    expect(verifyProvenance(record, { keys: ['nonsense'] }).problems).toMatchObject([
      { part: 'key', message: "'nonsense' is not a verifier key of the form NAME+HASH+BASE64." },
    ])
    expect(verifyProvenance(record, { keys: [] }).ok).toBe(false)
  })

  it('never makes the verifier throw an exception, whatever the record contains', () => {
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
})
