import { fromBase64 } from './bytes.ts'
import { splitNote, verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'

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
}

const hashBytes = 32

/**
 * Reads a checkpoint (C2SP `tlog-checkpoint`) without looking at its signatures.
 *
 * @throws {VerificationError} for what is none.
 */
export function parseCheckpoint(note: string): Checkpoint {
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
 * const { treeSize, rootHash } = verifyCheckpoint(await response.text(), [key])
 */
export function verifyCheckpoint(note: string, keys: readonly string[]): VerifiedCheckpoint {
  const checkpoint = parseCheckpoint(note)
  const signers = verifySignatures(splitNote(note)!, keys, 'checkpoint', 'the checkpoint')
  if (signers.some(({ name }) => name === checkpoint.origin)) return { ...checkpoint, signers }
  const [{ name, hash } = { name: '', hash: '' }] = signers
  const sentence = `The checkpoint is of the log of ${checkpoint.origin}, and its signature is by the key ${name}+${hash}.`
  throw new VerificationError('checkpoint', sentence)
}
