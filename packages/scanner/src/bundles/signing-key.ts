import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { parseVerifierKey, toVerifierKey } from '@skillstead/client/verify'

/** A key pair for signed notes as text. */
export interface SigningPair {
  /** `PRIVATE+KEY+<name>+<hash>+<key>`, the format of signed-note tools. */
  readonly signingKey: string
  /** `<name>+<hash>+<key>`, with which others verify signatures. */
  readonly verifierKey: string
}

const prefix = 'PRIVATE+KEY+'
const ed25519 = 1
/** The head of an Ed25519 private key in PKCS #8 (RFC 8410, section 7), before the 32 bytes of the key. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Creates a key pair. `name` has no spaces and plus signs, such as the host name of its owner. */
export function createSigningPair(name: string): SigningPair {
  const { privateKey } = generateKeyPairSync('ed25519')
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d!, 'base64url')
  const verifierKey = toVerifierKey(name, toPublic(privateKey))
  const { hash } = parseVerifierKey(verifierKey)
  const encoded = Buffer.concat([Buffer.of(ed25519), seed]).toString('base64')
  return { signingKey: `${prefix}${name}+${hash}+${encoded}`, verifierKey }
}

/**
 * Signs a text that ends with a line break, as a signed note (C2SP `signed-note`). Throws a `TypeError` for a key that
 * is not an Ed25519 signing key; the message has no part of the key.
 */
export function signNote(text: string, signingKey: string): string {
  const { name, hash, privateKey } = parseSigningKey(signingKey)
  const signature = Buffer.concat([Buffer.from(hash, 'hex'), sign(null, Buffer.from(text), privateKey)])
  return `${text}\n\u2014 ${name} ${signature.toString('base64')}\n`
}

function parseSigningKey(text: string): { name: string; hash: string; privateKey: KeyObject } {
  const [, name = '', encoded = ''] = /^PRIVATE\+KEY\+([^\s+]+)\+[0-9a-f]{8}\+(\S+)$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length !== 33 || bytes[0] !== ed25519)
    throw new TypeError('The signing key is not an Ed25519 key of the form PRIVATE+KEY+NAME+HASH+BASE64.')
  const key = Buffer.concat([pkcs8Head, bytes.subarray(1)])
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  const { hash } = parseVerifierKey(toVerifierKey(name, toPublic(privateKey)))
  if (!text.trim().startsWith(`${prefix}${name}+${hash}+`))
    throw new TypeError(
      'The signing key was altered: its hash does not match its name and key. Pass it as it was created.',
    )
  return { name, hash, privateKey }
}

function toPublic(privateKey: KeyObject): Uint8Array {
  return Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x!, 'base64url')
}
