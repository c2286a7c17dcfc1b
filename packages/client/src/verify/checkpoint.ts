import { fromBase64 } from './bytes.ts'
import { readSignedTime } from './cosignature.ts'
import { splitNote, verifySignatures, type SignedNote, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

/** What a log commits to: so many entries, under this root. */
export interface Checkpoint {
  /** The name of the node whose log it is. */
  readonly origin: string
  readonly treeSize: number
  /** Standard base64. */
  readonly rootHash: string
}

/** A checkpoint, and which of the given keys signed it. */
export interface VerifiedCheckpoint extends Checkpoint {
  readonly signers: readonly Signer[]
  /**
   * When it was the newest, in milliseconds since 1970, as one of the given keys signed (C2SP `tlog-cosignature`). Nodes
   * round it down to a minute. Undefined where the checkpoint does not say.
   */
  readonly signedAt?: number
  /**
   * The verifier keys that sign for the log at present, where it says: while a node changes its key, the old one names
   * the new one so. Only keys that did sign this checkpoint are among them.
   */
  readonly endorsedKeys: readonly string[]
}

const hashBytes = 32
/** The extension line that names a key of the log. */
const keyLine = 'key '
/** 16 signatures and as many keys take 4 KiB. */
const checkpointCharactersMax = 64 * 1024
/** As many as a note may have signatures. */
const keysMax = 16

/**
 * Reads a checkpoint (C2SP `tlog-checkpoint`) without looking at its signatures.
 *
 * @throws {VerificationError} for what is none.
 */
export function parseCheckpoint(note: string): Checkpoint {
  if (note.length > checkpointCharactersMax)
    throw new VerificationError('checkpoint', `The checkpoint is longer than ${checkpointCharactersMax} characters.`)
  const [origin = '', size = '', rootHash = '', ...extensions] = splitNote(note)?.text.slice(0, -1).split('\n') ?? []
  const isSize = /^(?:0|[1-9]\d{0,15})$/.test(size) && Number.isSafeInteger(Number(size))
  const isRoot = fromBase64(rootHash)?.length === hashBytes
  if (origin === '' || !isSize || !isRoot || extensions.includes(''))
    throw new VerificationError('checkpoint', 'The checkpoint is not in the form of one: origin, tree size, root hash.')
  return { origin, treeSize: Number(size), rootHash }
}

/**
 * Reads a checkpoint that one of the given verifier keys signed, the key having the name of the log.
 *
 * @throws {VerificationError} that names the key it is signed with, where that is none of them.
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
  const sentence = `The checkpoint is of the log of ${checkpoint.origin}, and its signature is by the key ${name}+${hash}.`
  throw new VerificationError('checkpoint', sentence)
}

/** A line that is none of ours, or whose key did not sign, is no reason to refuse what a given key signed. */
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
