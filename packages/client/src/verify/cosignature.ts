import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { isSignature, parseLines, type SignedNote } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey, toKeyHash } from './verifier-key.ts'

/** The signature type of C2SP `tlog-cosignature`: Ed25519 over a checkpoint and a time. */
const algorithm = 0x04
const timeBytes = 8

/**
 * When a checkpoint was the newest one, in milliseconds since 1970: the latest time that one of the given keys signed.
 * Undefined if none of them signed a time.
 *
 * @throws {VerificationError} for a line of a given key that does not verify.
 */
export function readSignedTime(note: SignedNote, keys: readonly string[]): number | undefined {
  const known = keys.map(parseVerifierKey).map(({ name, publicKey }) => {
    const hash = toKeyHash(name, concatBytes(Uint8Array.of(algorithm), publicKey))
    return { name, hash, publicKey }
  })
  let latest: number | undefined
  for (const { name, hash, signature: bytes } of parseLines(note.signatures) ?? []) {
    const key = known.find((one) => one.name === name && one.hash === hash)
    if (!key) continue
    const seconds = readSeconds(bytes)
    const message = utf8ToBytes(`cosignature/v1\ntime ${seconds}\n${note.text}`)
    if (seconds === undefined || !isSignature(bytes.subarray(timeBytes), message, key.publicKey)) {
      const sentence = `The signed time of the checkpoint by the key of ${name} does not match: one of them was altered.`
      throw new VerificationError('checkpoint', sentence)
    }
    latest = Math.max(latest ?? 0, seconds * 1000)
  }
  return latest
}

function readSeconds(bytes: Uint8Array): number | undefined {
  if (bytes.length <= timeBytes) return undefined
  const seconds = Number(new DataView(bytes.buffer, bytes.byteOffset, timeBytes).getBigUint64(0))
  return Number.isSafeInteger(seconds * 1000) ? seconds : undefined
}
