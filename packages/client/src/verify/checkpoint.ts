import { fromBase64 } from './bytes.ts'
import { splitNote, verifySignatures, type SignedNote, type Signer, isSignature, parseLines } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey, toKeyHash } from './verifier-key.ts'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'

/** A checkpoint: the size of a log and its root hash. */
export interface Checkpoint {
  /** The name of the node that owns the log. */
  readonly origin: string
  readonly treeSize: number
  /** In standard base64. */
  readonly rootHash: string
}

/** A checkpoint, and which of the given keys signed it. */
export interface VerifiedCheckpoint extends Checkpoint {
  readonly signers: readonly Signer[]
  /**
   * When this checkpoint was the newest one, in milliseconds since 1970, as signed by one of the given keys (C2SP
   * `tlog-cosignature`). Nodes round the time down to a minute. Undefined without a signed time.
   */
  readonly signedAt?: number
  /**
   * The verifier keys that currently sign for the log, if the checkpoint lists them: during a key rotation the old key
   * announces the new one this way. Contains only keys that signed this checkpoint.
   */
  readonly endorsedKeys: readonly string[]
}

const hashBytes = 32
/** Prefix of the extension line with a key of the log. */
const keyLine = 'key '
/** Maximum size of a checkpoint; 16 signatures and 16 keys take 4 KiB. */
const checkpointCharactersMax = 64 * 1024
/** Maximum number of keys of a checkpoint that are checked: a note has at most as many signatures. */
const keysMax = 16

/**
 * Parses a checkpoint (C2SP `tlog-checkpoint`) without verifying its signatures.
 *
 * @throws {VerificationError} for an invalid checkpoint.
 */
export function parseCheckpoint(note: string): Checkpoint {
  if (note.length > checkpointCharactersMax)
    throw new VerificationError('checkpoint', `The checkpoint is longer than ${checkpointCharactersMax} characters.`)
  const [origin = '', size = '', rootHash = '', ...extensions] = splitNote(note)?.text.slice(0, -1).split('\n') ?? []
  const isSize = /^(?:0|[1-9]\d{0,15})$/.test(size) && Number.isSafeInteger(Number(size))
  const isRoot = fromBase64(rootHash)?.length === hashBytes
  if (origin === '' || !isSize || !isRoot || extensions.includes(''))
    throw new VerificationError('checkpoint', 'The checkpoint does not have the form origin, tree size, root hash.')
  return { origin, treeSize: Number(size), rootHash }
}

/**
 * Verifies that one of the given verifier keys signed a checkpoint, and that this key has the name of the log.
 *
 * @throws {VerificationError} that names the signing key if it is not one of the given keys.
 *
 * @example
 * const { treeSize, rootHash, signedAt } = verifyCheckpoint(await response.text(), [key])
 */
export function verifyCheckpoint(note: string, keys: readonly string[]): VerifiedCheckpoint {
  const checkpoint = parseCheckpoint(note)
  const parts = splitNote(note)!
  const signers = verifySignatures(parts, keys, 'checkpoint', 'the checkpoint')
  if (signers.some(({ name }) => name === checkpoint.origin)) {
    const ofLog = keys.filter((key) => parseVerifierKey(key).name === checkpoint.origin)
    const endorsedKeys = readEndorsedKeys(parts, checkpoint.origin)
    return { ...checkpoint, signers, signedAt: readSignedTime(parts, ofLog), endorsedKeys }
  }
  const [{ name, hash } = { name: '', hash: '' }] = signers
  const sentence = `The checkpoint is of the log of ${checkpoint.origin}, but it is signed by the key ${name}+${hash}.`
  throw new VerificationError('checkpoint', sentence)
}

/** The listed keys that signed the note. Other lines are ignored, because the signature of a given key suffices. */
function readEndorsedKeys(note: SignedNote, origin: string): string[] {
  const lines = note.text.split('\n').filter((line) => line.startsWith(keyLine))
  const keys = [...new Set(lines.map((line) => line.slice(keyLine.length)))]
  return keys.slice(0, keysMax).filter((key) => isEndorsed(note, key, origin))
}

function isEndorsed(note: SignedNote, key: string, origin: string): boolean {
  try {
    return parseVerifierKey(key).name === origin && verifySignatures(note, [key], 'checkpoint', 'it').length > 0
  } catch (error) {
    if (error instanceof VerificationError) return false
    throw error
  }
}

/** The signature type of C2SP `tlog-cosignature`: Ed25519 over a checkpoint and a time. */
const algorithm = 0x04
const timeBytes = 8

/**
 * When a checkpoint was the newest one, in milliseconds since 1970: the latest time that one of the given keys signed.
 * Undefined if none of the given keys signed a time.
 *
 * @throws {VerificationError} for a line of a given key that does not verify.
 */
function readSignedTime(note: SignedNote, keys: readonly string[]): number | undefined {
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
      const sentence = `The signature by the key of ${name} does not match the checkpoint and its time: one of them was altered.`
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
