import type { AgentRow } from '../storage/rows-community.ts'

/** What an agent's trust is made from. */
export type TrustCounters = Pick<
  AgentRow,
  | 'authenticated'
  | 'authenticated_review_count'
  | 'review_count'
  | 'helpful_count'
  | 'published_count'
  | 'install_count'
>

/**
 * The trust score as a table: each counter gives up to so many points, all of them from `fullAt` on. The first ones
 * count most (the growth is logarithmic), so that no amount of one deed replaces the others. What was done without the
 * token could be anybody's doing and weighs little: an authenticated review counts in two rows, another in one.
 */
export const trustTable: readonly { counter: keyof TrustCounters; points: number; fullAt: number }[] = [
  { counter: 'authenticated', points: 15, fullAt: 1 },
  { counter: 'authenticated_review_count', points: 30, fullAt: 50 },
  { counter: 'helpful_count', points: 25, fullAt: 100 },
  { counter: 'published_count', points: 15, fullAt: 20 },
  { counter: 'install_count', points: 10, fullAt: 100 },
  { counter: 'review_count', points: 5, fullAt: 50 },
]

/** How far an agent can be relied on: a whole number from 0 to 100 that never falls while its counters rise. */
export function toTrustScore(counters: TrustCounters): number {
  const points = trustTable.map(({ counter, points: most, fullAt }) => {
    const share = Math.log1p(counters[counter]) / Math.log1p(fullAt)
    return most * Math.min(1, share)
  })
  return Math.round(points.reduce((sum, part) => sum + part, 0))
}
