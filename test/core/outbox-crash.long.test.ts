import { afterEach, describe, expect, inject, it } from 'vitest'
import { runKills } from '../crash/kills.ts'
import { repetitions, seed } from '../support/long.ts'
import { makePlace, type Place } from '../support/places.ts'

/** `pnpm crash` does the same two hundred times. */
const kills = repetitions({ sampled: 8, whole: 40 })
const patienceMs = 900_000

describe.each(['SQLite', 'PostgreSQL'] as const)('a node on %s that is killed during publishes', (dialect) => {
  let place: Place
  afterEach(() => place?.remove())

  it.skipIf(dialect === 'PostgreSQL' && inject('postgresUrl') === null)(
    'delivers all stored events at least once, no others, and leaves no pending row',
    async () => {
      place = await makePlace(dialect)
      const report = await runKills({ location: place.location, kills, seed })
      const faults = { lost: [], untold: [], madeUp: [], ambiguous: [], stuck: [], errors: [] }
      expect(report, `with seed ${seed}`).toMatchObject(faults)
      expect(report.stored).toBeGreaterThanOrEqual(report.answered)
      expect(report.answered).toBeGreaterThan(0)
      expect(report.poisoned).toBeGreaterThan(0)
    },
    patienceMs,
  )
})
