import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import { appendLeaf, hashBytes, rootOf } from './merkle.ts'
import { ownTree } from './tree-rows.ts'

/** The hashes that a tile holds (C2SP tlog-tiles), and the levels of the tree that it spans. */
export const tileHashes = 256
export const tileLevels = 8
/** How many of them are below each hash half way up. */
export const middleHashes = 16

/** The tree at one moment: its leaves, and the frontier that it grows from. */
export interface TreeHead {
  readonly size: number
  readonly frontier: Buffer[]
}

/** The tree as it is now, both parts from one moment. */
export async function readTreeHead(db: Kysely<Tables>): Promise<TreeHead> {
  const row = await db.selectFrom('heads').select(['log_seq', 'frontier']).executeTakeFirstOrThrow()
  return { size: row.log_seq, frontier: splitHashes(row.frontier) }
}

/**
 * Grows the tree by leaves whose entries were just added to the log, and stores each tile that they fill. Returns the
 * new frontier, for the head. Whoever calls holds the head's lock.
 */
export async function growTree(
  trx: Kysely<Tables>,
  head: TreeHead,
  leaves: readonly Buffer[],
  rows = ownTree,
): Promise<Buffer> {
  const { size, frontier } = head
  const filled: { level: number; n: number; root: Buffer }[] = []
  leaves.forEach((leaf, i) => {
    appendLeaf(frontier, size + i, leaf, (level, root) => {
      if (level % tileLevels !== 0) return
      filled.push({ level: level / tileLevels - 1, n: (size + i + 1) / 2 ** level - 1, root })
    })
  })
  for (const { level, n, root } of filled) {
    const hashes = await readHashes(trx, { level, start: n * tileHashes, count: tileHashes }, rows)
    await rows.putTile(trx, { level, n, root, middle: toMiddle(hashes), hashes })
  }
  return Buffer.concat(frontier)
}

/** The hashes half way up in a full tile: each above 16 of its own. */
export function toMiddle(hashes: Uint8Array): Buffer {
  const nodes = splitHashes(hashes)
  return Buffer.concat(
    Array.from({ length: nodes.length / middleHashes }, (_, i) =>
      rootOf(nodes.slice(i * middleHashes, (i + 1) * middleHashes)),
    ),
  )
}

/** Hashes of one tile level, side by side; fewer where there are no more. */
export async function readHashes(
  db: Kysely<Tables>,
  { level, start, count }: { level: number; start: number; count: number },
  rows = ownTree,
): Promise<Buffer> {
  if (level === 0) return Buffer.concat((await rows.readLeaves(db, start, count)).map(({ hash }) => hash))
  return Buffer.concat((await rows.readRoots(db, level - 1, start, count)).map(({ root }) => root))
}

/** Hashes that stand side by side, one by one. */
export function splitHashes(bytes: Uint8Array): Buffer[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: buffer.length / hashBytes }, (_, i) =>
    buffer.subarray(i * hashBytes, (i + 1) * hashBytes),
  )
}
