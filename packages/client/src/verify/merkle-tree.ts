import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64, toBase64 } from './bytes.ts'
import { VerificationError, type VerifiedPart } from './verification-error.ts'

/** Proof that a tree contains a leaf; hashes in standard base64. */
export interface InclusionProof {
  /** The index of the leaf, from 0. */
  readonly index: number
  readonly treeSize: number
  readonly leafHash: string
  readonly rootHash: string
  readonly proof: readonly string[]
}

/** Proof that a tree begins with all entries of an older tree; hashes in standard base64. */
export interface ConsistencyProof {
  readonly olderSize: number
  readonly olderRootHash: string
  readonly treeSize: number
  readonly rootHash: string
  readonly proof: readonly string[]
}

const hashBytes = 32

/** The leaf hash of an entry (RFC 9162, section 2.1.1), in standard base64. */
export function toLeafHash(entry: string): string {
  return toBase64(sha256(concatBytes(Uint8Array.of(0), utf8ToBytes(entry))))
}

/**
 * Verifies that a log contains a leaf (RFC 9162, section 2.1.3.2). The root hash must be trusted, such as that of a
 * verified checkpoint.
 *
 * @throws {VerificationError} if the proof does not lead from the leaf to the root.
 */
export function verifyInclusion({ index, treeSize, leafHash, rootHash, proof }: InclusionProof): void {
  const part = 'inclusion'
  requirePlace(index, treeSize - 1, part)
  let hash = decodeHash(leafHash, part)
  let [place, last] = [index, treeSize - 1]
  for (const sibling of proof) {
    if (last === 0)
      throw new VerificationError(
        part,
        `The inclusion proof of index ${index} has too many hashes for a log of ${treeSize} entries.`,
      )
    if (isOdd(place) || place === last) {
      hash = toParent(decodeHash(sibling, part), hash)
      while (place !== 0 && !isOdd(place)) [place, last] = [toParentPlace(place), toParentPlace(last)]
    } else {
      hash = toParent(hash, decodeHash(sibling, part))
    }
    ;[place, last] = [toParentPlace(place), toParentPlace(last)]
  }
  if (last === 0 && toBase64(hash) === rootHash) return
  const sentence = `The inclusion proof of index ${index} does not lead from its leaf hash to the root hash of ${treeSize} entries.`
  throw new VerificationError(part, sentence)
}

/**
 * Verifies that a log was only appended to since an older checkpoint (RFC 9162, section 2.1.4.2). A mirror needs only
 * the stored older checkpoint, a verified new checkpoint and the proof.
 *
 * @throws {VerificationError} if the log is not append-only, which means that its history was rewritten.
 */
export function verifyConsistency(given: ConsistencyProof): void {
  const { olderSize, treeSize, olderRootHash, rootHash } = given
  requirePlace(olderSize, treeSize, 'consistency')
  if (isConsistentTree(given)) return
  const sentence = `The log of ${treeSize} entries under the root hash ${rootHash} does not begin with the ${olderSize} entries under ${olderRootHash}.`
  throw new VerificationError('consistency', sentence)
}

function isConsistentTree({ olderSize, olderRootHash, treeSize, rootHash, proof }: ConsistencyProof): boolean {
  if (olderSize === 0) return proof.length === 0
  if (olderSize === treeSize) return proof.length === 0 && olderRootHash === rootHash
  if (proof.length === 0) return false
  let [place, last] = [olderSize - 1, treeSize - 1]
  while (isOdd(place)) [place, last] = [toParentPlace(place), toParentPlace(last)]
  // If the older tree is a complete subtree, its root is the first node of the path, and the proof omits it.
  const [first, ...rest] = place === 0 ? [olderRootHash, ...proof] : proof
  let older = decodeHash(first!, 'consistency')
  let newer = older
  for (const text of rest) {
    if (last === 0) return false
    const hash = decodeHash(text, 'consistency')
    if (isOdd(place) || place === last) {
      older = toParent(hash, older)
      newer = toParent(hash, newer)
      while (place !== 0 && !isOdd(place)) [place, last] = [toParentPlace(place), toParentPlace(last)]
    } else {
      newer = toParent(newer, hash)
    }
    ;[place, last] = [toParentPlace(place), toParentPlace(last)]
  }
  return last === 0 && toBase64(older) === olderRootHash && toBase64(newer) === rootHash
}

function requirePlace(place: number, max: number, part: VerifiedPart): void {
  if (Number.isSafeInteger(place) && Number.isSafeInteger(max) && place >= 0 && place <= max) return
  throw new VerificationError(
    part,
    `A log of ${part === 'inclusion' ? max + 1 : max} entries has no entry at index ${place}.`,
  )
}

function toParent(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right))
}

function decodeHash(text: string, part: VerifiedPart): Uint8Array {
  const bytes = fromBase64(text)
  if (bytes?.length === hashBytes) return bytes
  throw new VerificationError(part, 'A hash of the proof is not 32 bytes in base64.')
}

// Avoid bit operations, which are limited to 32 bits: a log may have more than 2^31 entries.
function isOdd(place: number): boolean {
  return place % 2 === 1
}

function toParentPlace(place: number): number {
  return Math.floor(place / 2)
}
