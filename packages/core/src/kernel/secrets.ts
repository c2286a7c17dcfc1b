import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { RegistryError } from '@skillstead/protocol'

/** Encrypts secrets that this node must send to other servers, such as upstream API keys, before they are stored. */
export interface Secrets {
  /** False if the node has no secret key. The node can then neither encrypt nor decrypt secrets. */
  readonly isReady: boolean
  /** Throws `conflict` if the node has no key. */
  seal(text: string): Uint8Array
  /** Throws `conflict` if the text was sealed with another key or is damaged. */
  open(sealed: Uint8Array): string
}

/**
 * Length in bytes of a secret key, the option `secretKey` of `openRegistry`.
 *
 * @example
 * const secretKey = randomBytes(secretKeyBytes)
 */
export const secretKeyBytes = 32
const cipher = 'aes-256-gcm'
/** First byte of a sealed secret: the number of the format, so that other formats can be added. */
const secretFormat = 1
const nonceBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce per secret. Layout: format byte, nonce, tag, ciphertext. Throws a
 * TypeError for a key of the wrong length.
 */
export function createSecrets(key?: Uint8Array): Secrets {
  if (key && key.length !== secretKeyBytes) {
    throw new TypeError(`A secret key must have ${secretKeyBytes} bytes. The given key has ${key.length}.`)
  }
  return {
    isReady: key !== undefined,
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, requireSecretKey(key), nonce)
      const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
      return Buffer.concat([Buffer.of(secretFormat), nonce, sealing.getAuthTag(), sealed])
    },
    open(sealed) {
      const own = requireSecretKey(key)
      try {
        const bytes = Buffer.from(sealed)
        if (bytes[0] !== secretFormat) throw new Error(`Format ${bytes[0]}`)
        const nonce = bytes.subarray(1, 1 + nonceBytes)
        const opening = createDecipheriv(cipher, own, nonce, { authTagLength: tagBytes })
        opening.setAuthTag(bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes))
        const text = opening.update(bytes.subarray(1 + nonceBytes + tagBytes))
        return Buffer.concat([text, opening.final()]).toString('utf8')
      } catch (cause) {
        const detail =
          'A stored API key was encrypted with another secret key. Start the node with that secret key, or enter the API key again.'
        throw new RegistryError('conflict', detail, { cause })
      }
    },
  }
}

function requireSecretKey(key: Uint8Array | undefined): Uint8Array {
  if (key) return key
  const detail =
    'This node has no secret key to encrypt API keys with. Set SKILLSTEAD_SECRET_KEY, or pass a `secretKey` of 32 bytes.'
  throw new RegistryError('conflict', detail)
}
