import { createHash, generateKeyPairSync, sign } from 'node:crypto'

/** A key of a test, and what it signs: by the words of C2SP `signed-note`, with Node's own cryptography. */
export interface NoteSigner {
  readonly vkey: string
  /** `<name>+<hash>`. */
  readonly id: string
  /** The signature line of a text, with its line break. */
  sign(text: string): string
  /** The text as a signed note. */
  note(text: string): string
}

export function createNoteSigner(name: string): NoteSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.concat([Buffer.of(1), Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')])
  const hash = createHash('sha256').update(`${name}\n`).update(key).digest().subarray(0, 4)
  const toLine = (text: string) =>
    `\u2014 ${name} ${Buffer.concat([hash, sign(null, Buffer.from(text), privateKey)]).toString('base64')}\n`
  return {
    vkey: `${name}+${hash.toString('hex')}+${key.toString('base64')}`,
    id: `${name}+${hash.toString('hex')}`,
    sign: toLine,
    note: (text) => `${text}\n${toLine(text)}`,
  }
}
