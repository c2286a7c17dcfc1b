import { fromBase64 } from './bytes.ts'
import { readSignedTime } from './cosignature.ts'
import { splitNote, verifySignatures, type SignedNote, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

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
   * When it was the newest checkpoint, in milliseconds since 1970, as signed by one of the given keys (C2SP
   * `tlog-cosignature`). Nodes round it down to a minute. Undefined if the checkpoint has no signed time.
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
/** 16 signatures and as many keys take 4 KiB. */
const checkpointCharactersMax = 64 * 1024
/** The maximum number of signatures of a note. */
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

/** Ignore unknown lines, and lines with a key that did not sign: the checkpoint itself is signed by a given key. */
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
