import { createHash, createPublicKey, verify } from 'node:crypto'

/** A user's SSH key, in the forms in which people compare keys. */
export interface SshKey {
  /** As in a `.pub` file, without a comment: `ssh-ed25519 AAAA...`. */
  readonly publicKey: string
  /** As `ssh-keygen -l` prints it: `SHA256:...`. */
  readonly fingerprint: string
}

/** The kind of key and of signature that is accepted. */
const ed25519 = 'ssh-ed25519'
const head = Buffer.from('SSHSIG\0\0\0\x01', 'latin1')

/**
 * Explains in a sentence why a signature of `ssh-keygen -Y sign` (PROTOCOL.sshsig of OpenSSH) does not prove that the
 * holder of its key signed `text` in `namespace`; undefined if the signature proves it. Only Ed25519 keys are accepted.
 */
export function findSshSignatureProblem(armored: string, namespace: string, text: string): string | undefined {
  const parsed = parseSshSignature(armored)
  if (!parsed) return 'is not a signature of ssh-keygen -Y sign.'
  const { key, hash, signature } = parsed
  const [kind, publicKey] = splitStrings(key)
  const [signatureKind, bytes] = splitStrings(signature)
  if (String(kind) !== ed25519) return 'is by a key of another kind than Ed25519. Sign with an Ed25519 key.'
  if (String(parsed.namespace) !== namespace) return `is not of the namespace ${namespace}.`
  const isKnownHash = String(hash) === 'sha256' || String(hash) === 'sha512'
  if (!isKnownHash || publicKey?.length !== 32 || String(signatureKind) !== ed25519 || bytes?.length !== 64)
    return 'is not a valid signature of an Ed25519 key.'
  const digest = createHash(String(hash)).update(text).digest()
  const signed = Buffer.concat([
    head.subarray(0, 6),
    ...[parsed.namespace, parsed.reserved, hash, digest].map(toString),
  ])
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') }
  if (verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), bytes)) return undefined
  return 'does not match what was signed: one of them was altered.'
}

/** The key in a signature that was accepted. */
export function readSshKey(armored: string): SshKey {
  const { key } = parseSshSignature(armored)!
  const fingerprint = createHash('sha256').update(key).digest('base64').replace('=', '')
  return { publicKey: `${ed25519} ${key.toString('base64')}`, fingerprint: `SHA256:${fingerprint}` }
}

function parseSshSignature(armored: string) {
  const [, encoded = ''] = /^-+BEGIN SSH SIGNATURE-+\n([^-]+)-+END SSH SIGNATURE-+\n?$/.exec(armored) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (!bytes.subarray(0, head.length).equals(head)) return undefined
  const parts = splitStrings(bytes.subarray(head.length))
  const [key, namespace, reserved, hash, signature] = parts
  return parts.length === 5 && key && namespace && reserved && hash && signature
    ? { key, namespace, reserved, hash, signature }
    : undefined
}

/** The strings of a sequence (RFC 4251, section 5); none if the sequence is cut off. */
function splitStrings(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const start = at + 4
    at = start <= bytes.length ? start + bytes.readUInt32BE(at) : Infinity
    if (at > bytes.length) return []
    parts.push(bytes.subarray(start, at))
  }
  return parts
}

function toString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
