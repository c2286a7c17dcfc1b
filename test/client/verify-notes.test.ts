import { VerificationError, parseCheckpoint, parseVerifierKey, verifyCheckpoint } from '@skillstead/client/verify'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNoteSigner } from '../support/note-signer.ts'

const root = Buffer.alloc(32, 7).toString('base64')
const text = `node.example\n12\n${root}\n`
const node = createNoteSigner('node.example')
const other = createNoteSigner('node.example')
const stranger = createNoteSigner('stranger.example')

/** The error message of a rejected checkpoint, or `taken` for an accepted one. */
function outcomeOf(note: string, keys: readonly string[]): string {
  try {
    verifyCheckpoint(note, keys)
    return 'taken'
  } catch (error) {
    if (error instanceof VerificationError) return error.message
    throw error
  }
}

describe('a verifier key', () => {
  it('is read in the format of other tools for signed notes', () => {
    // The public key of Go's checksum database.
    const key = parseVerifierKey('sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8')
    expect(key).toMatchObject({ name: 'sum.golang.org', hash: '033de0ae' })
    expect(key.publicKey).toHaveLength(32)
  })

  it.each([
    ['', 'is not a verifier key'],
    ['node.example', 'is not a verifier key'],
    ['x'.repeat(500), `'${'x'.repeat(80)}…' is not a verifier key`],
    [node.vkey.replace('node.example', 'node example'), 'is not a verifier key'],
    [node.vkey.replace('node.example', 'evil.example'), 'The key of evil.example has the hash'],
    [node.vkey.replace(/=*$/, '') + '!', 'is not a verifier key'],
    [`${node.id}+${Buffer.alloc(33, 2).toString('base64')}`, `The key ${node.id} is not an Ed25519 key.`],
    [`${node.id}+${Buffer.alloc(20, 1).toString('base64')}`, `The key ${node.id} is not an Ed25519 key.`],
  ])('rejects %j with an explanation', (given, sentence) => {
    expect(() => parseVerifierKey(given)).toThrow(sentence)
  })
})

describe('a checkpoint', () => {
  it('is accepted if a trusted key signed it', () => {
    const expected = { origin: 'node.example', treeSize: 12, rootHash: root }
    expect(parseCheckpoint(node.note(text))).toEqual(expected)
    const { signers, ...checkpoint } = verifyCheckpoint(node.note(text), [stranger.vkey, node.vkey])
    expect(checkpoint).toEqual({ ...expected, endorsedKeys: [] })
    expect(signers.map(({ name, hash }) => `${name}+${hash}`)).toEqual([node.id])
  })

  it('signed by an old and a new key is accepted by a client that trusts either key', () => {
    const note = `${text}\n${node.sign(text)}${other.sign(text)}`
    expect(
      [[node], [other], [node, other], [stranger]].map((keys) =>
        outcomeOf(
          note,
          keys.map(({ vkey }) => vkey),
        ),
      ),
    ).toEqual([
      'taken',
      'taken',
      'taken',
      expect.stringContaining(
        `is by the key ${node.id}, ${other.id}, which is not among the given keys: ${stranger.id}.`,
      ),
    ])
  })

  it('is rejected if the signature of a trusted key is invalid, even if another signature is valid', () => {
    const forged = `${text}\n${node.sign(`${text}more\n`)}${other.sign(text)}`
    expect(outcomeOf(forged, [node.vkey, other.vkey])).toContain(`by the key ${node.id} does not match`)
    expect(outcomeOf(forged, [other.vkey])).toBe('taken')
  })

  it('is rejected if no trusted key is given, or if the name of the key differs from the name of the log', () => {
    expect(outcomeOf(node.note(text), [])).toContain(
      `is by the key ${node.id}, which is not among the given keys: none.`,
    )
    expect(outcomeOf(stranger.note(text), [stranger.vkey])).toBe(
      `The checkpoint is of the log of node.example, but it is signed by the key ${stranger.id}.`,
    )
  })

  it('is rejected if any character was changed', () => {
    const note = node.note(text)
    fc.assert(
      fc.property(fc.nat(note.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(note[at] !== character)
        expect(outcomeOf(note.slice(0, at) + character + note.slice(at + 1), [node.vkey])).not.toBe('taken')
        expect(outcomeOf(note.slice(0, at) + note.slice(at + 1), [node.vkey])).not.toBe('taken')
      }),
    )
  })

  it('may contain extension lines, which are part of the signed text', () => {
    const longer = `${text}extension\n`
    expect(outcomeOf(node.note(longer), [node.vkey])).toBe('taken')
    expect(outcomeOf(node.note(longer).replace('extension', 'extensions'), [node.vkey])).toContain('does not match')
  })

  it('has a signed time only if a trusted key of the log signed that time', () => {
    const note = `${node.note(text)}${stranger.cosign(text, 9_000)}${node.cosign(text, 60)}${other.cosign(text, 120)}`
    const timeOf = (...keys: string[]) => verifyCheckpoint(note, keys).signedAt
    expect(timeOf(node.vkey)).toBe(60_000)
    expect(timeOf(node.vkey, stranger.vkey)).toBe(60_000)
    expect(verifyCheckpoint(node.note(text), [node.vkey]).signedAt).toBeUndefined()
    const both = `${text}\n${node.sign(text)}${other.sign(text)}${node.cosign(text, 60)}${other.cosign(text, 120)}`
    expect(verifyCheckpoint(both, [node.vkey, other.vkey]).signedAt).toBe(120_000)
    expect(outcomeOf(`${text}\n${node.cosign(text, 60)}`, [node.vkey])).toContain('which is not among the given keys')
  })

  it.each([
    ['of another text', node.cosign(`${text}more\n`, 60)],
    ['beyond what is counted exactly', node.cosign(text, 2n ** 63n)],
    ['that was altered', node.cosign(text, 60).replace('AAAAAAAA', 'AAAAAAAB')],
  ])('is rejected with a signed time %s', (_, line) => {
    expect(outcomeOf(`${node.note(text)}${line}`, [node.vkey])).toContain('does not match the checkpoint and its time')
  })

  it('endorses the keys in its text that belong to its log and have signed the checkpoint', () => {
    const named = (...keys: string[]) => `${text}${keys.map((key) => `key ${key}\n`).join('')}`
    const endorsed = (body: string, ...lines: string[]) =>
      verifyCheckpoint(`${body}\n${lines.join('')}`, [node.vkey]).endorsedKeys
    const body = named(other.vkey, node.vkey, stranger.vkey, 'nonsense')
    expect(endorsed(body, node.sign(body), other.sign(body), stranger.sign(body))).toEqual([other.vkey, node.vkey])
    expect(endorsed(body, node.sign(body)), 'one that did not sign').toEqual([node.vkey])
    expect(endorsed(body, node.sign(body), other.sign(text)), 'one that signed another').toEqual([node.vkey])
    expect(outcomeOf(`${body}\n${other.sign(body)}`, [node.vkey]), 'by itself').toContain(
      'which is not among the given keys',
    )
  })

  it('with two signatures by the same key has one signer', () => {
    const { signers } = verifyCheckpoint(`${text}\n${node.sign(text).repeat(2)}`, [node.vkey])
    expect(signers.map(({ name, hash }) => `${name}+${hash}`)).toEqual([node.id])
    const forged = `${text}\n${node.sign(text)}${node.sign(`${text}more\n`)}`
    expect(outcomeOf(forged, [node.vkey])).toContain(`by the key ${node.id} does not match`)
  })

  it('is rejected if its text differs from the signed text, even if both decode to the same bytes', () => {
    const signed = node.note(`${text}extension \ufffd\n`)
    expect(outcomeOf(signed, [node.vkey])).toBe('taken')
    expect(outcomeOf(signed.replace('\ufffd', '\ud800'), [node.vkey])).toContain('does not have the form')
  })

  it.each([
    ['nothing', ''],
    ['no signature', text],
    ['an empty signature', `${text}\n`],
    ['no root', 'node.example\n12\n'],
    ['a size with a zero before it', `node.example\n012\n${root}\n`],
    ['a negative size', `node.example\n-1\n${root}\n`],
    ['a size beyond what is counted exactly', `node.example\n9007199254740993\n${root}\n`],
    ['a root of another length', `node.example\n12\n${root.slice(4)}\n`],
    ['a control character', `${text}bell \u0007\n`],
    ['a line end of two characters', `${text}extension\r\n`],
    ['an empty extension', `${text}\n\nmore\n`],
  ])('is rejected with %s', (_, note) => {
    const signed = note.endsWith('\n') && note !== text && note !== `${text}\n` ? node.note(note) : note
    expect(outcomeOf(signed, [node.vkey])).toMatch(
      /^The (?:checkpoint|signature of the checkpoint) (?:is not in the form|does not have the form)/,
    )
  })

  it('is rejected before any signature is verified if it has too many signatures', () => {
    const note = `${text}\n${stranger.sign(text).repeat(100)}${node.sign(text)}`
    expect(outcomeOf(note, [node.vkey])).toContain('not in the form of a signed note')
  })

  it('is rejected without parsing if it is larger than 64 KiB', () => {
    const note = `${text}\n${stranger.sign(text).repeat(100_000)}${node.sign(text)}`
    expect(outcomeOf(note, [node.vkey])).toBe('The checkpoint is longer than 65536 characters.')
  })
})
