import { seededRandom } from './random.ts'

/**
 * `pnpm test` runs what proves each capability once. `pnpm test:long` runs the same suite with every API suite on all
 * four variants, and the files `*.long.test.ts`: kills, fuzz, chaos, three Node versions, the single file.
 */
export const isLong = process.env.SKILLSTEAD_TEST_LONG === '1'

/**
 * How many long files a sampled long run has, as in CI: a share of the suites with fewer repetitions. Which ones depends
 * on {@link seed}. 0 if the long run is no sample.
 */
export const sampleSize = Number(process.env.SKILLSTEAD_TEST_SAMPLE ?? 0)
export const isSampled = sampleSize > 0

/** Whether the long run leaves nothing out. */
export const isWhole = isLong && !isSampled

/** What all choices of a run depend on. The run prints it; set SKILLSTEAD_TEST_SEED to repeat a run's choices. */
export const seed = Number(process.env.SKILLSTEAD_TEST_SEED ?? Date.now() % 1_000_000)

/** How often a long test repeats something: `whole` by hand, `sampled` in CI. */
export function repetitions({ sampled, whole }: { sampled: number; whole: number }): number {
  return isWhole ? whole : sampled
}

/** All of `items` in a whole long run, otherwise `count` of them, chosen by the seed; in their order. */
export function sample<T>(items: readonly T[], count: number): readonly T[] {
  if (isWhole || items.length <= count) return items
  const random = seededRandom(seed)
  const ranked = items.map((item, index) => ({ item, index, rank: random() }))
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count)
  return chosen.toSorted((a, b) => a.index - b.index).map(({ item }) => item)
}
