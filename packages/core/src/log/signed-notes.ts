import { hash } from 'node:crypto'

/** The type byte of an Ed25519 signature over the text of a note. */
const ed25519 = Buffer.of(1)
/** The type byte of an Ed25519 signature over a checkpoint and a time (C2SP tlog-cosignature). */
const cosignature = Buffer.of(4)

/**
 * Computes a key id: the first four bytes of a hash over name and key, which distinguishes keys of the same name (C2SP
 * signed-note).
 */
function toKeyId(name: string, publicKey: Uint8Array, kind = ed25519): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), kind, publicKey]), 'buffer').subarray(0, 4)
}

/** Encodes a public key as the one-line verifier key that signed-note tools accept. */
export function toVerifierKey(name: string, publicKey: Uint8Array): string {
  const key = Buffer.concat([ed25519, publicKey]).toString('base64')
  return `${name}+${toKeyId(name, publicKey).toString('hex')}+${key}`
}

/** Formats the signature line of a signed note, without its line end. */
export function toSignatureLine(name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `— ${name} ${Buffer.concat([toKeyId(name, publicKey), signature]).toString('base64')}`
}

/** The text that a cosignature signs: a checkpoint and the time in whole seconds since 1970. */
export function toCosignedText(text: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** Formats the line of a cosignature over {@link toCosignedText}, without its line end. */
export function toCosignatureLine(
  name: string,
  publicKey: Uint8Array,
  { seconds, signature }: { seconds: number; signature: Uint8Array },
): string {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  return `— ${name} ${Buffer.concat([toKeyId(name, publicKey, cosignature), time, signature]).toString('base64')}`
}

/** Maximum length of a host name. */
const nameLengthMax = 255

/** Whether a name is allowed in a signed note: not empty, without white space, control characters and plus signs. */
export function isNoteName(name: string): boolean {
  return name.length <= nameLengthMax && name.isWellFormed() && /^[^\s+\p{C}]+$/u.test(name)
}
