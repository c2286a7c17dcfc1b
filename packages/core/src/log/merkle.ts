import { hash } from 'node:crypto'

/**
 * Prefixes that separate leaves from inner nodes, so that two different trees cannot share a root (RFC 6962, section
 * 2.1).
 */
const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

/** Length of every hash of the tree (SHA-256), in bytes. */
export const hashBytes = 32

/** The root of the tree without leaves. */
export const emptyRoot: Buffer = hash('sha256', '', 'buffer')

/** The leaf hash of an entry: SHA-256 of a zero byte and the entry. */
export function hashLeaf(entry: string | Uint8Array): Buffer {
  const bytes = typeof entry === 'string' ? Buffer.from(entry) : entry
  return hash('sha256', Buffer.concat([leafPrefix, bytes]), 'buffer')
}

/** The hash of an inner node: SHA-256 of a one byte and both children. */
export function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer')
}

/**
 * Appends a leaf to a tree of `size` leaves. The frontier holds the roots of the perfect subtrees, largest first, one
 * for each bit that is set in `size`; it is all that a tree needs to grow, and is changed in place. `onNode` is called
 * for each perfect subtree that the leaf completes, with the base-2 logarithm of its number of leaves.
 */
export function appendLeaf(
  frontier: Buffer[],
  size: number,
  leaf: Buffer,
  onNode?: (level: number, node: Buffer) => void,
): void {
  let node = leaf
  let level = 0
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
    node = hashNode(frontier.pop()!, node)
    level += 1
    onNode?.(level, node)
  }
  frontier.push(node)
}

/** The root above adjacent subtrees, largest first. */
export function toRoot(frontier: readonly Buffer[]): Buffer {
  return frontier.length === 0 ? emptyRoot : frontier.reduceRight((right, left) => hashNode(left, right))
}

/** The root of a tree with these leaves; also the root above nodes of one level if their number is a power of two. */
export function rootOf(nodes: readonly Buffer[]): Buffer {
  const frontier: Buffer[] = []
  nodes.forEach((node, i) => appendLeaf(frontier, i, node))
  return toRoot(frontier)
}

/** The leaves from `start` up to but excluding `end`, which form one node of a tree. */
export interface LeafRange {
  readonly start: number
  readonly end: number
}

/** A perfect subtree: the one with number `index` among the subtrees of `2 ** level` leaves. */
export interface TreeNode {
  readonly level: number
  readonly index: number
}

/** The subtrees whose roots form the inclusion proof of a leaf, from the leaf upwards (RFC 6962, section 2.1.1). */
export function toInclusionRanges(index: number, size: number): LeafRange[] {
  const ranges: LeafRange[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + toSplitSize(end - start)
    if (index < middle) {
      ranges.push({ start: middle, end })
      end = middle
    } else {
      ranges.push({ start, end: middle })
      start = middle
    }
  }
  return ranges.toReversed()
}

/** Splits a range into adjacent perfect subtrees, largest first. */
export function toNodes({ start, end }: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = []
  for (let at = start; at < end;) {
    let [level, leaves] = [0, 1]
    while (leaves * 2 <= end - at) [level, leaves] = [level + 1, leaves * 2]
    nodes.push({ level, index: at / leaves })
    at += leaves
  }
  return nodes
}

/** Computes the root hash from a leaf and its inclusion proof. */
export function foldProof(leaf: Buffer, index: number, ranges: readonly LeafRange[], proof: readonly Buffer[]): Buffer {
  return proof.reduce(
    (node, other, i) => (ranges[i]!.start > index ? hashNode(node, other) : hashNode(other, node)),
    leaf,
  )
}

/** The largest power of two that is smaller than `leaves`. */
function toSplitSize(leaves: number): number {
  let split = 1
  while (split * 2 < leaves) split *= 2
  return split
}
