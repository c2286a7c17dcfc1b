import type { SyncProgress } from '@skillstead/mirror'
import { expect, it } from 'vitest'
import { oncePerInterval } from '../../packages/cli/src/terminal/progress-bar.ts'
import { createPace, toPaceText } from '../../packages/cli/src/terminal/pace.ts'

const at = (phase: SyncProgress['phase'], done: number, more: Partial<SyncProgress> = {}) => {
  return { upstream: 'main', phase, done, ...more }
}

it('the remaining time of a sync is extrapolated from the progress of its current phase', () => {
  let nowMs = 0
  const toPace = createPace(() => nowMs)
  expect(toPace(at('staging', 0, { total: 1000 })).secondsLeft).toBeUndefined()
  nowMs = 1000
  expect(toPace(at('staging', 100, { total: 1000 })).secondsLeft, 'too soon to say').toBeUndefined()
  nowMs = 4000
  expect(toPace(at('staging', 200, { total: 1000 })).secondsLeft).toBe(16)
  expect(toPace(at('applying', 200, { total: 1000 })).secondsLeft, 'another kind of work').toBeUndefined()
  nowMs = 14_000
  expect(toPace(at('applying', 300, { total: 1000 })).secondsLeft, 'what was there before does not count').toBe(70)
  expect(toPace(at('applying', 300)).secondsLeft).toBeUndefined()
})

it('the remaining time of a sync is the estimate of a rate-limited upstream, if the upstream gives an estimate', () => {
  const toPace = createPace(() => 0)
  expect(toPace(at('listing', 10, { total: 100, secondsLeft: 5400 })).secondsLeft).toBe(5400)
})

it('the progress of a sync shows its rate and remaining time, but no rate if the rate is very low', () => {
  let nowMs = 0
  const toPace = createPace(() => nowMs)
  expect(toPaceText(toPace(at('applying', 1000, { total: 9000 })))).toBe('')
  nowMs = 4000
  expect(toPaceText(toPace(at('applying', 1500, { total: 9000 })))).toBe(', 125 a second, about 60 s left')
  expect(toPaceText(toPace(at('applying', 1500)))).toBe(', 125 a second')
  expect(toPaceText(toPace(at('applying', 1002, { total: 1004 })))).toBe(', about 4 s left')
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
