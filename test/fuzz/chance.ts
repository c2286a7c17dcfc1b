import fc from 'fast-check'
import { pick, seededRandom } from '../support/random.ts'

/** All random choices of a run. The same seed gives the same choices. */
export interface Chance {
  /** Whether something of this probability happens. */
  hits(probability: number): boolean
  /** A whole number from 0 to below `count`. */
  below(count: number): number
  pick<T>(list: readonly T[]): T
  /** A value of a fast-check arbitrary. */
  draw<T>(arbitrary: fc.Arbitrary<T>): T
}

export function createChance(seed: number): Chance {
  const random = seededRandom(seed)
  const below = (count: number) => Math.floor(random() * count)
  return {
    hits: (probability) => random() < probability,
    below,
    pick: (list) => pick(random, list),
    draw: (arbitrary) => fc.sample(arbitrary, { seed: below(2 ** 31), numRuns: 1 })[0]!,
  }
}
