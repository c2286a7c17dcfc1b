import { setImmediate } from 'node:timers/promises'
import { toTimestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import { findKeyProblem } from './keys.ts'
import { appendLeaf, hashLeaf, rootOf } from './merkle.ts'
import { readHashes, readTreeHead, splitHashes, tileHashes, toMiddle, type TreeHead } from './tree.ts'

/** What a look through the whole log found: a sentence either way. */
export interface LogCheck {
  readonly ok: boolean
  readonly detail: string
}

type Reader = Context['database']['read']

/**
 * Computes the Merkle tree anew from the entries and compares everything that is stored of it: each entry with its hash
 * and its columns, each tile with the hashes below it, the head, and the halves of each key. Names the first that does
 * not match. It goes on in slices, so that a node can go on meanwhile.
 */
export async function checkLog({ database }: Pick<Context, 'database'>): Promise<LogCheck> {
  // Before the head, which only grows: what is added meanwhile is not taken for too much.
  const extent = await readExtent(database.read)
  const head = await readTreeHead(database.read)
  const problem =
    (await findProblem(database.read, head)) ?? findExcess(extent, head) ?? (await findKeyProblem(database.read))
  if (problem) return { ok: false, detail: `${problem} Restore a backup.` }
  return { ok: true, detail: `${head.size} entries, none missing, and the tree over them is right.` }
}

async function findProblem(db: Reader, head: TreeHead): Promise<string | undefined> {
  const frontier: Buffer[] = []
  for (let size = 0; size < head.size; size += tileHashes) {
    await setImmediate()
    const end = Math.min(head.size, size + tileHashes)
    const rows = await readRows(db, size, end)
    for (let seq = size + 1; seq <= end; seq += 1) {
      const row = rows[seq - size - 1]
      const problem = row?.seq === seq ? findEntryProblem(row) : 'is missing.'
      if (problem) return `The log's entry ${seq} ${problem}`
      appendLeaf(frontier, seq - 1, Buffer.from(row!.hash))
    }
    const problem = end % tileHashes === 0 ? await findTileProblem(db, 0, end / tileHashes - 1) : undefined
    if (problem) return problem
  }
  return (await findUpperProblem(db, head.size)) ?? findHeadProblem(head, frontier)
}

function readRows(db: Reader, after: number, end: number) {
  return db.selectFrom('log').selectAll().where('seq', '>', after).where('seq', '<=', end).orderBy('seq').execute()
}

function findEntryProblem(row: Awaited<ReturnType<typeof readRows>>[number]): string | undefined {
  if (!hashLeaf(row.entry).equals(row.hash)) return 'does not match its hash.'
  const { seq, type, at, subject, digest } = JSON.parse(row.entry) as Record<string, unknown>
  const isWhere = seq === row.seq && at === toTimestamp(row.at)
  const same = isWhere && type === row.type && subject === row.subject && digest === row.digest
  return same ? undefined : 'is not what the columns beside it say.'
}

/** A tile against what lies below it: leaves, or the roots of the tiles one level down. */
async function findTileProblem(db: Reader, level: number, n: number): Promise<string | undefined> {
  const name = `The log's tile ${level}/${n}`
  const tile = await db
    .selectFrom('tree_tiles')
    .selectAll()
    .where('level', '=', level)
    .where('n', '=', n)
    .executeTakeFirst()
  if (!tile) return `${name} is missing.`
  const below = await readHashes(db, { level, start: n * tileHashes, count: tileHashes })
  if (!below.equals(tile.hashes)) return `${name} does not match the ${level === 0 ? 'entries' : 'tiles'} below it.`
  if (!toMiddle(below).equals(tile.middle)) return `${name} does not match what is half way up in it.`
  return rootOf(splitHashes(below)).equals(tile.root) ? undefined : `${name} does not match its root.`
}

async function findUpperProblem(db: Reader, size: number): Promise<string | undefined> {
  let tiles = Math.floor(size / tileHashes)
  for (let level = 1; tiles >= tileHashes; level += 1) {
    tiles = Math.floor(tiles / tileHashes)
    for (let n = 0; n < tiles; n += 1) {
      const problem = await findTileProblem(db, level, n)
      if (problem) return problem
    }
  }
  return undefined
}

function findHeadProblem({ size, frontier }: TreeHead, computed: readonly Buffer[]): string | undefined {
  const same = Buffer.concat(computed).equals(Buffer.concat(frontier))
  return same ? undefined : `The log's head does not match its ${size} entries.`
}

/** The numbers of the first and last entry, and of the last tile of each level. */
async function readExtent(db: Reader) {
  const entries = await db
    .selectFrom('log')
    .select((eb) => [eb.fn.min('seq').as('first'), eb.fn.max('seq').as('last')])
    .executeTakeFirstOrThrow()
  const tiles = await db
    .selectFrom('tree_tiles')
    .select((eb) => ['level', eb.fn.max('n').as('n')])
    .groupBy('level')
    .execute()
  return { entries, tiles }
}

/** What stands where the next entries will have to be. */
function findExcess({ entries, tiles }: Awaited<ReturnType<typeof readExtent>>, head: TreeHead): string | undefined {
  const { first, last } = entries
  const seq = first !== null && first < 1 ? first : last
  if (seq !== null && (seq < 1 || seq > head.size)) {
    return `The log has an entry ${seq}, and its head says that it has ${head.size}.`
  }
  const tile = tiles.find(({ level, n }) => (n + 1) * tileHashes ** (level + 1) > head.size)
  return tile && `The log has a tile ${tile.level}/${tile.n}, which its ${head.size} entries do not fill.`
}
