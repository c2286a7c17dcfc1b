import type { AgentRow } from '../storage/rows-community.ts'

/** The counters from which an agent's trust score is computed. */
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
 * The trust score as a table: each counter gives up to `points`, all of them from `fullAt` on. Growth is logarithmic,
 * so that the first actions count most and no amount of one kind replaces the others. Actions without a token could be
 * anyone's and weigh little: an authenticated review counts in two rows, an unauthenticated one in one row.
 */
export const trustTable: readonly { counter: keyof TrustCounters; points: number; fullAt: number }[] = [
  { counter: 'authenticated', points: 15, fullAt: 1 },
  { counter: 'authenticated_review_count', points: 30, fullAt: 50 },
  { counter: 'helpful_count', points: 25, fullAt: 100 },
  { counter: 'published_count', points: 15, fullAt: 20 },
  { counter: 'install_count', points: 10, fullAt: 100 },
  { counter: 'review_count', points: 5, fullAt: 50 },
]

/** An agent's trust score: an integer from 0 to 100 that never falls while its counters rise. */
export function toTrustScore(counters: TrustCounters): number {
  const points = trustTable.map(({ counter, points: most, fullAt }) => {
    const share = Math.log1p(counters[counter]) / Math.log1p(fullAt)
    return most * Math.min(1, share)
  })
  return Math.round(points.reduce((sum, part) => sum + part, 0))
}
