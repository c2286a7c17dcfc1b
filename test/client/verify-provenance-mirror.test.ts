import { toContentDigest, verifyFiles, verifyProvenance } from '@skillstead/client/verify'
import type { Provenance } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { toCanonical } from '../support/canonical.ts'
import { createNoteSigner } from '../support/note-signer.ts'
import { content, makeRecords, toFile, type Records } from '../support/provenance-records.ts'

describe('a provenance record', () => {
  let { record, keys } = {} as Records
  beforeAll(async () => {
    ;({ record, keys } = await makeRecords())
  })

  const partsOf = (changed: unknown) => verifyProvenance(changed, { keys }).problems.map(({ part }) => part)

  describe('of a mirror', () => {
    const mirror = createNoteSigner('mirror.example')
    /** A record from a mirror: with the log proof of the origin node, and the signature of the mirror. */
    const relay = (change: object = {}, signer = mirror): Provenance => {
      const origin = { kind: 'mirror' as const, upstream: 'node', syncedAt: '2026-01-02T12:00:00.000Z' }
      const { log, signature: _own, ...fields } = { ...record, origin, ...change }
      return { ...fields, log, signature: signer.sign(`${toCanonical(fields)}\n`) }
    }
    const unproven = ['firstPublishedAt', 'authorVerified', 'forkChain', 'origin']

    it('is verified with the key of the origin node; the report lists the fields for which only the mirror vouches', () => {
      const report = verifyProvenance(relay(), { keys, content })
      expect(report).toMatchObject({ ok: true, signers: [], contentChecked: true, unproven })
      expect(verifyProvenance(record, { keys })).toMatchObject({ unproven: [] })
    })

    it('has no unproven fields if the keys of both the origin node and the mirror are given', () => {
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

    it('is rejected without the key of the origin node', () => {
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
    ])('is rejected with %s than in the log', (_, change, sentence) => {
      const { problems } = verifyProvenance(relay(change()), { keys })
      expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(`The log entry has ${sentence}`)])
    })

    it('is rejected if it claims not to be mirrored, has no log, or is signed with the name of the origin log', () => {
      expect(partsOf(relay({ origin: record.origin }))).toEqual(['signature'])
      expect(partsOf(relay({ log: null }))).toEqual(['signature'])
      expect(partsOf(relay({}, createNoteSigner('node.example')))).toEqual(['signature'])
      expect(partsOf({ ...relay(), signature: 'nothing' })).toEqual(['signature'])
    })
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
    ])('are rejected if a file is %s', (_, files, sentence) => {
      const { problems } = verifyProvenance(record, { keys, content: files })
      expect(problems.map(({ part }) => part)).toEqual(['content'])
      expect(problems[0]!.message).toMatch(new RegExp(`not ${record.digest}: ${sentence}\\.$`))
    })

    it('are verified with the files of the skill in any order', () => {
      expect(toContentDigest(content.toReversed())).toBe(record.digest)
      expect(() => verifyFiles(content.toReversed(), record.digest)).not.toThrow()
    })

    it('are rejected if the path of one file is crafted to look like the entries of two files', () => {
      const listed = verifyProvenance(record, { keys, content })
      const [, first, second] = listed.ok ? listed.entry!.data.files! : []
      const path = `a.txt\n${second!.digest} ${second!.size} b/c.txt`
      expect(first!.path).toBe('a.txt')
      const files = [content[0]!, { path, bytes: content[1]!.bytes }]
      expect(verifyProvenance(record, { keys, content: files }).problems[0]!.message).toMatch(/^The path "a\.txt\\n/)
    })

    it('produce an error that lists ten differing files and counts the other differing files', () => {
      const more = Array.from({ length: 25 }, (_, i) => toFile(`more-${i}.txt`, ''))
      const { problems } = verifyProvenance(record, { keys, content: [...content, ...more] })
      expect(problems[0]!.message).toContain('more-9.txt does not belong to it, and 15 more.')
      expect(problems[0]!.message).not.toContain('more-10.txt')
    })
  })
})
