import type { SyncProgress } from '@skillstead/mirror'
import { expect, it } from 'vitest'
import { oncePerInterval } from '../../packages/cli/src/terminal/progress-bar.ts'
import { createSyncPace } from '../../packages/cli/src/mirror/progress.ts'

const at = (phase: SyncProgress['phase'], done: number, more: Partial<SyncProgress> = {}) => {
  return { upstream: 'main', phase, done, ...more }
}

it('the remaining time of a sync is extrapolated from the progress of its current phase', () => {
  let nowMs = 0
  const pace = createSyncPace(() => nowMs)
  expect(pace.secondsLeft(at('staging', 0, { total: 1000 }))).toBeUndefined()
  nowMs = 1000
  expect(pace.secondsLeft(at('staging', 100, { total: 1000 })), 'too soon to say').toBeUndefined()
  nowMs = 4000
  expect(pace.secondsLeft(at('staging', 200, { total: 1000 }))).toBe(16)
  expect(pace.secondsLeft(at('applying', 200, { total: 1000 })), 'another kind of work').toBeUndefined()
  nowMs = 14_000
  expect(pace.secondsLeft(at('applying', 300, { total: 1000 })), 'what was there before does not count').toBe(70)
  expect(pace.secondsLeft(at('applying', 300))).toBeUndefined()
})

it('the remaining time of a sync is the estimate of the rate-limited upstream, if the upstream gives one', () => {
  const pace = createSyncPace(() => 0)
  expect(pace.secondsLeft(at('listing', 10, { total: 100, secondsLeft: 5400 }))).toBe(5400)
})

it('a progress line in a pipe is printed once per interval, not at the start', () => {
  let now = 0
  const isDue = oncePerInterval(10_000, () => now)
  const due = [0, 9_999, 10_000, 10_001, 20_000].map((ms) => {
    now = ms
    return isDue()
  })
  expect(due).toEqual([false, false, true, false, true])
})
