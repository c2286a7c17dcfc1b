import { RegistryError } from '@skillstead/protocol'
import type { LogContext } from './log-context.ts'
import { foldProof, toInclusionRanges, toNodes, toRoot, type LeafRange, type TreeNode } from './merkle.ts'
import { loadTiles, toTileNode, toTileKey, type TileRef } from './tiles.ts'
import { readerOf, type TreeReader, readTreeHead, tileHashes, tileLevels } from './log-tree.ts'

/** Proof that an entry is in the log, which any client can verify with the root of a checkpoint. Hashes are base64. */
export interface InclusionProof {
  readonly index: number
  readonly treeSize: number
  readonly leafHash: string
  readonly rootHash: string
  readonly inclusionProof: string[]
}

/**
 * Proves that the entry at `index` (its `seq` minus one) is in the tree of `treeSize` leaves. Default: the current
 * size. Throws `not_found` for an index or size beyond the log.
 */
export async function proveInclusion(context: LogContext, index: number, treeSize?: number): Promise<InclusionProof> {
  const size = treeSize ?? (await readTreeHead(context.database.read)).size
  if (!(index >= 0 && index < size)) {
    throw new RegistryError('not_found', `The log has ${size} entries, none at index ${index}.`)
  }
  return proveIn(readerOf(context), index, size)
}

/** As {@link proveInclusion}, in any tree that contains the index. */
export async function proveIn(reader: TreeReader, index: number, size: number): Promise<InclusionProof> {
  const ranges = toInclusionRanges(index, size)
  const [leaf, ...proof] = await readRoots(reader, [{ start: index, end: index + 1 }, ...ranges], size)
  return {
    index,
    treeSize: size,
    leafHash: leaf!.toString('base64'),
    rootHash: foldProof(leaf!, index, ranges, proof).toString('base64'),
    inclusionProof: proof.map((node) => node.toString('base64')),
  }
}

/** Reads the frontier of the tree with `size` leaves: the roots of its perfect subtrees, largest first. */
export async function readFrontier(reader: TreeReader, size: number): Promise<Buffer[]> {
  const nodes = toNodes({ start: 0, end: size })
  const ranges = nodes.map(({ level, index }) => ({ start: index * 2 ** level, end: (index + 1) * 2 ** level }))
  return readRoots(reader, ranges, size)
}

/** Computes the roots of ranges of leaves from the smallest number of tiles. */
async function readRoots(reader: TreeReader, ranges: readonly LeafRange[], size: number): Promise<Buffer[]> {
  const parts = ranges.map((range) => toNodes(range).map(toTilePlace))
  const tiles = await loadTiles(
    reader,
    parts.flat().map(({ tile }) => tile),
    size,
  )
  return parts.map((places) =>
    toRoot(places.map(({ tile, offset, count }) => toTileNode(tiles.get(toTileKey(tile))!, offset, count))),
  )
}

/** Finds the tile that contains the hashes below a node. All of these hashes are in one tile. */
function toTilePlace({ level, index }: TreeNode): { tile: TileRef; offset: number; count: number } {
  const count = 2 ** (level % tileLevels)
  const position = index * count
  const tile = { level: Math.floor(level / tileLevels), n: Math.floor(position / tileHashes) }
  return { tile, offset: position % tileHashes, count }
}
