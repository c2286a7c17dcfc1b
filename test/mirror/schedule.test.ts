import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSchedule } from '../../packages/mirror/src/schedule.ts'
import type { Upstream } from '@skillstead/mirror'
import { createClock } from '../support/harness.ts'

/** A schedule over upstreams in memory, whose runs end when the test says so. */
function startSchedule(...given: Partial<Upstream & { everySeconds: number }>[]) {
  const clock = createClock()
  const upstreams = given.map(({ everySeconds = 60, ...rest }, index) => ({
    name: `upstream-${index}`,
    kind: 'node' as const,
    settings: { everySeconds },
    triedAt: null,
    syncedAt: null,
    alarm: null,
    ...rest,
  }))
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  let looks = 0
  const schedule = createSchedule({
    clock,
    list: async () => {
      looks += 1
      return upstreams as unknown as Upstream[]
    },
    sync: ({ name }) => {
      begun.push(name)
      return new Promise((resolve) => void ends.set(name, resolve))
    },
    onError(error) {
      throw error
    },
  })
  schedule.start()
  return {
    schedule,
    clock,
    begun,
    looks: () => looks,
    settle,
    /** Lets one run come to its end; one that could not begin leaves no trace in the row. */
    async end(index: number, { isTried = true } = {}) {
      const upstream = upstreams[index]!
      if (isTried) Object.assign(upstream, { triedAt: clock.now(), syncedAt: clock.now() })
      ends.get(upstream.name)!()
      await settle()
    },
  }
}

/** Whatever is due at once has had its turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await sleep(2)
}

it('the sync schedule polls an upstream again when a long sync ends, and not during the sync', async () => {
  const { begun, looks, clock, settle: wait, end } = startSchedule({ syncedAt: 1, triedAt: 1 })
  await wait()
  expect(begun).toEqual(['upstream-0'])
  const before = looks()
  await wait()
  expect(looks(), 'nothing else is due').toBe(before)
  await end(0)
  clock.advance(60_000)
  await wait()
  expect(begun).toEqual(['upstream-0', 'upstream-0'])
})

it('the sync schedule waits before it retries a sync that another node is running', async () => {
  const { begun, looks, clock, settle: wait, end } = startSchedule({ syncedAt: 1, triedAt: 1 })
  await wait()
  await end(0, { isTried: false })
  await wait()
  expect(begun).toHaveLength(1)
  expect(looks()).toBeLessThan(5)
  clock.advance(1000)
  await wait()
  expect(begun).toHaveLength(2)
})

it('the sync schedule delays only the first sync of an upstream until first syncs of higher priority end', async () => {
  const {
    begun,
    clock,
    settle: wait,
    end,
  } = startSchedule({ syncedAt: 1, triedAt: 1 }, {}, {}, { syncedAt: 1, triedAt: 1 })
  await wait()
  expect(begun).toEqual(['upstream-0', 'upstream-1', 'upstream-3'])
  await end(0)
  await end(3)
  clock.advance(60_000)
  await wait()
  expect(begun.slice(3).toSorted(), 'however long the first run of upstream-1 takes').toEqual([
    'upstream-0',
    'upstream-3',
  ])
  await end(1)
  await expect.poll(() => begun.slice(5)).toEqual(['upstream-2'])
})

it('the sync schedule never syncs paused upstreams or upstreams imported from bundles', async () => {
  const alarm = { code: 'fork' as const, message: 'It forked.', at: 1 }
  const { begun, looks, settle: wait } = startSchedule({ kind: 'bundle' }, { alarm }, { everySeconds: 0 })
  await wait()
  expect({ begun, looks: looks() }).toEqual({ begun: [], looks: 1 })
})

it('the sync schedule starts no sync after it was stopped, even if a running sync ends later', async () => {
  const { schedule, begun, looks, clock, settle: wait, end } = startSchedule({ syncedAt: 1, triedAt: 1 })
  await wait()
  schedule.stop()
  await end(0)
  clock.advance(600_000)
  await wait()
  expect({ begun: begun.length, looks: looks() }).toEqual({ begun: 1, looks: 1 })
})
