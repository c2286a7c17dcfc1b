import { hash } from 'node:crypto'

/** Ed25519 over the text of the note; the identifier of that kind of signature. */
const ed25519 = Buffer.of(1)
/** Ed25519 over a checkpoint and a time (C2SP tlog-cosignature). */
const cosignature = Buffer.of(4)

/** Tells keys of one name apart: the first four bytes of a hash over name and key (C2SP signed-note). */
function toKeyId(name: string, publicKey: Uint8Array, kind = ed25519): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), kind, publicKey]), 'buffer').subarray(0, 4)
}

/** A public key in the one line that tools for signed notes take. */
export function toVerifierKey(name: string, publicKey: Uint8Array): string {
  const key = Buffer.concat([ed25519, publicKey]).toString('base64')
  return `${name}+${toKeyId(name, publicKey).toString('hex')}+${key}`
}

/** The line that a signature is in a signed note, without its line end. */
export function toSignatureLine(name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `— ${name} ${Buffer.concat([toKeyId(name, publicKey), signature]).toString('base64')}`
}

/** What a cosignature signs: a checkpoint's text, and when, in whole seconds since 1970. */
export function toCosignedText(text: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** The line of a cosignature over {@link toCosignedText}, without its line end. */
export function toCosignatureLine(
  name: string,
  publicKey: Uint8Array,
  { seconds, signature }: { seconds: number; signature: Uint8Array },
): string {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  return `— ${name} ${Buffer.concat([toKeyId(name, publicKey, cosignature), time, signature]).toString('base64')}`
}

/** As long as the name of a host may be. */
const nameLengthMax = 255

/** Whether a name can stand in a signed note: something, without white space, control characters and plus signs. */
export function isNoteName(name: string): boolean {
  return name.length <= nameLengthMax && name.isWellFormed() && /^[^\s+\p{C}]+$/u.test(name)
}
