import { attempt } from '@skillstead/protocol/wire'

/** The two keys that are derived from a secret. */
export interface SecretKeys {
  /** Key of `X-Service-Signature`: the bytes of the whole secret. */
  readonly service: CryptoKey
  /** Key of `webhook-signature`: the base64-decoded bytes after `whsec_`, or the bytes of any other secret. */
  readonly standard: CryptoKey
}

const standardPrefix = 'whsec_'
const hmac = { name: 'HMAC', hash: 'SHA-256' }
/** Maximum number of signatures to verify per delivery: a sender adds one per secret; a thousand would cost time. */
const signaturesMax = 8
/** Length of a SHA-256 in base64. */
const signatureCharacters = 44

/** Throws a TypeError for an invalid secret, so that the error occurs at the start and not at the first delivery. */
export function requireSecrets(secrets: readonly string[]): void {
  if (secrets.length === 0 || !secrets.every((secret) => typeof secret === 'string' && secret !== '')) {
    throw new TypeError('The webhook secret is missing. Pass it as a string.')
  }
  if (secrets.some((secret) => secret.trim().startsWith(standardPrefix) && /\s/.test(secret))) {
    throw new TypeError(
      'The secret contains whitespace, perhaps the line break of the file that it was read from. Remove it.',
    )
  }
  if (!secrets.every((secret) => toStandardBytes(secret)?.length)) {
    throw new TypeError('The part of a secret after whsec_ must be base64.')
  }
}

export async function importKeys(secret: string): Promise<SecretKeys> {
  const [service, standard] = await Promise.all([
    importHmacKey(encodeUtf8(secret)),
    importHmacKey(toStandardBytes(secret)!),
  ])
  return { service, standard }
}

/** Whether `X-Service-Signature` is valid for the body under one of the secrets. Compares in constant time. */
export async function isServiceSigned(
  keys: readonly SecretKeys[],
  signature: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const bytes = fromHex(/^sha256=([0-9a-f]{64})$/.exec(signature)?.[1])
  if (!bytes) return false
  for (const { service } of keys) if (await crypto.subtle.verify('HMAC', service, bytes, body)) return true
  return false
}

/** The signatures in a `webhook-signature` header, without signatures of unknown versions. */
export function parseSignatures(header: string): string[] {
  const all = header.split(' ').filter((each) => each.startsWith('v1,'))
  return all.slice(0, signaturesMax).map((each) => each.slice('v1,'.length))
}

/** Whether one of the signatures is valid for the content under one of the secrets. Compares in constant time. */
export async function isStandardSigned(
  keys: readonly SecretKeys[],
  signatures: readonly string[],
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const signature of signatures) {
    const bytes = signature.length === signatureCharacters ? decodeSecret(signature) : undefined
    // Some bytes have several base64 spellings; only the canonical one is accepted.
    if (!bytes || btoa(String.fromCharCode(...bytes)) !== signature) continue
    for (const { standard } of keys) if (await crypto.subtle.verify('HMAC', standard, bytes, content)) return true
  }
  return false
}

/** The content that `webhook-signature` signs (Standard Webhooks, "Signature scheme"), with the timestamp as sent. */
export function toSignedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encodeUtf8(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

function importHmacKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
}

function toStandardBytes(secret: string): Uint8Array<ArrayBuffer> | undefined {
  return secret.startsWith(standardPrefix) ? decodeSecret(secret.slice(standardPrefix.length)) : encodeUtf8(secret)
}

function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function fromHex(hex: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  const pairs = hex?.match(/../g)
  return pairs ? Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)) : undefined
}

function decodeSecret(text: string): Uint8Array<ArrayBuffer> | undefined {
  return attempt(() => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
}
