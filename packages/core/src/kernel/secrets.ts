import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'

/** Keeps what this node must be able to show others, such as API keys for upstreams, unreadable in the database. */
export interface Secrets {
  /** False where the node has no key: nothing can be sealed then, nor opened. */
  readonly isReady: boolean
  /** Throws `conflict` where the node has no key. */
  seal(text: string): Uint8Array
  /** Throws `conflict` for what was sealed with another key, or is not whole. */
  open(sealed: Uint8Array): string
}

/** How many bytes a secret key has. */
export const secretKeyBytes = 32
const cipher = 'aes-256-gcm'
/** The first byte of what is sealed, so that another way can follow. */
const format = 1
const nonceBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM (NIST SP 800-38D) with a nonce of its own each time: the format's byte, the nonce, the tag, the text.
 * Throws a TypeError for a key of another length.
 */
export function createSecrets(key?: Uint8Array): Secrets {
  if (key && key.length !== secretKeyBytes) {
    throw new TypeError(`A secret key has ${secretKeyBytes} bytes, not ${key.length}.`)
  }
  return {
    isReady: key !== undefined,
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, requireKey(key), nonce)
      const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
      return Buffer.concat([Buffer.of(format), nonce, sealing.getAuthTag(), sealed])
    },
    open(sealed) {
      const own = requireKey(key)
      try {
        const bytes = Buffer.from(sealed)
        if (bytes[0] !== format) throw new Error(`Format ${bytes[0]}`)
        const nonce = bytes.subarray(1, 1 + nonceBytes)
        const opening = createDecipheriv(cipher, own, nonce, { authTagLength: tagBytes })
        opening.setAuthTag(bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes))
        const text = opening.update(bytes.subarray(1 + nonceBytes + tagBytes))
        return Buffer.concat([text, opening.final()]).toString('utf8')
      } catch (cause) {
        const detail =
          'An API key that is stored here was sealed with another secret key. Start the node with that one, or give the API key again.'
        throw new RegistryError('conflict', detail, { cause })
      }
    },
  }
}

function requireKey(key: Uint8Array | undefined): Uint8Array {
  if (key) return key
  const detail =
    'This node has no secret key to keep API keys with. Open it with a `secretKey` of 32 bytes; the command takes SKILLSTEAD_SECRET_KEY.'
  throw new RegistryError('conflict', detail)
}
