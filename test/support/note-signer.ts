import { createHash, generateKeyPairSync, sign } from 'node:crypto'

/** A key of a test, and what it signs: by the words of C2SP `signed-note`, with Node's own cryptography. */
export interface NoteSigner {
  readonly vkey: string
  /** `<name>+<hash>`. */
  readonly id: string
  /** The signature line of a text, with its line break. */
  sign(text: string): string
  /** The line that signs a text and when (C2SP `tlog-cosignature`), with its line break. */
  cosign(text: string, seconds: number | bigint): string
  /** The text as a signed note. */
  note(text: string): string
}

export function createNoteSigner(name: string): NoteSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.concat([Buffer.of(1), Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')])
  const hash = createHash('sha256').update(`${name}\n`).update(key).digest().subarray(0, 4)
  const toLine = (text: string) =>
    `\u2014 ${name} ${Buffer.concat([hash, sign(null, Buffer.from(text), privateKey)]).toString('base64')}\n`
  const cosigner = Buffer.concat([Buffer.of(4), key.subarray(1)])
  const cosignerHash = createHash('sha256').update(`${name}\n`).update(cosigner).digest().subarray(0, 4)
  return {
    vkey: `${name}+${hash.toString('hex')}+${key.toString('base64')}`,
    id: `${name}+${hash.toString('hex')}`,
    sign: toLine,
    cosign(text, seconds) {
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey)
      return `\u2014 ${name} ${Buffer.concat([cosignerHash, time, signature]).toString('base64')}\n`
    },
    note: (text) => `${text}\n${toLine(text)}`,
  }
}
