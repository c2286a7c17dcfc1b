import { createHash } from 'node:crypto'

/** The Merkle tree of RFC 6962 as its text defines it, by recursion over the list: what everything else is held against. */
export function naiveRoot(entries: readonly Uint8Array[]): Buffer {
  if (entries.length === 0) return sha256()
  if (entries.length === 1) return naiveLeaf(entries[0]!)
  const split = splitOf(entries.length)
  return sha256(Buffer.of(1), naiveRoot(entries.slice(0, split)), naiveRoot(entries.slice(split)))
}

/** The hash of one entry. */
export function naiveLeaf(entry: Uint8Array): Buffer {
  return sha256(Buffer.of(0), entry)
}

/** PATH(m, D[n]) of section 2.1.1. */
export function naivePath(index: number, entries: readonly Uint8Array[]): Buffer[] {
  if (entries.length <= 1) return []
  const split = splitOf(entries.length)
  const [left, right] = [entries.slice(0, split), entries.slice(split)]
  return index < split
    ? [...naivePath(index, left), naiveRoot(right)]
    : [...naivePath(index - split, right), naiveRoot(left)]
}

/** PROOF(m, D[n]) of section 2.1.2. */
export function naiveProof(older: number, entries: readonly Uint8Array[], whole = true): Buffer[] {
  if (older === entries.length) return whole ? [] : [naiveRoot(entries)]
  const split = splitOf(entries.length)
  const [left, right] = [entries.slice(0, split), entries.slice(split)]
  return older <= split
    ? [...naiveProof(older, left, whole), naiveRoot(right)]
    : [...naiveProof(older - split, right, false), naiveRoot(left)]
}

function splitOf(length: number): number {
  let split = 1
  while (split * 2 < length) split *= 2
  return split
}

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
