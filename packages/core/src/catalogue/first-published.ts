import type { CatalogueContext } from './catalogue-context.ts'
import type { ComparedSkill } from './copy-candidates.ts'
import type { Sketch } from './sketch.ts'

/** When a skill first contained a shared text. */
interface Since {
  readonly publishedAt: number
  readonly num: number
}

/**
 * Which of some skills published a shared text earlier than the given skill: half of it had appeared in an earlier
 * version.
 */
export async function findEarlier(
  context: CatalogueContext,
  sketch: Sketch,
  own: readonly number[],
  others: readonly Pick<ComparedSkill, 'num'>[],
): Promise<Set<number>> {
  const nums = others.map(({ num }) => num)
  if (own.length === 0) return new Set(nums)
  const rows = await context.copies.findHolders(sketch.lookedUp, [...own, ...nums])
  const bySkill = Map.groupBy(rows, ({ skill_num }) => skill_num)
  const ownSince = new Map<number, number>()
  for (const { shingle, sketch_num } of own.flatMap((num) => bySkill.get(num) ?? []))
    ownSince.set(shingle, Math.min(sketch_num, ownSince.get(shingle) ?? Infinity))
  const since = nums.map((num) => {
    const shared = bySkill.get(num) ?? []
    const mine = shared.map(({ shingle }) => ownSince.get(shingle) ?? Infinity)
    return { num, theirs: middleOf(shared.map(({ sketch_num }) => sketch_num)), mine: middleOf(mine) }
  })
  const times = await readTimes(
    context,
    since.flatMap(({ theirs, mine }) => [theirs, mine]),
  )
  return new Set(since.filter(({ theirs, mine }) => isEarlier(times, theirs, mine)).map(({ num }) => num))
}

/** Infinity for an empty list. */
function middleOf(nums: readonly number[]): number {
  return nums.toSorted((a, b) => a - b)[nums.length >> 1] ?? Infinity
}

async function readTimes(context: CatalogueContext, nums: readonly number[]): Promise<Map<number, Since>> {
  const known = [...new Set(nums)].filter((num) => num !== Infinity)
  if (known.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('version_sketches')
    .innerJoin('versions', 'versions.id', 'version_sketches.version_id')
    .select(['version_sketches.num', 'versions.published_at as publishedAt'])
    .where('version_sketches.num', 'in', known)
    .execute()
  return new Map(rows.map((row) => [row.num, row]))
}

function isEarlier(times: ReadonlyMap<number, Since>, one: number, other: number): boolean {
  const [a, b] = [times.get(one), times.get(other)]
  if (!a || !b) return a !== undefined
  return a.publishedAt === b.publishedAt ? a.num < b.num : a.publishedAt < b.publishedAt
}
