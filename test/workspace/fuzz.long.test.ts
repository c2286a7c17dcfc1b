import { tmpdir } from 'node:os'
import { describe, expect, inject, it } from 'vitest'
import { endpoints } from '@skillstead/protocol'
import { grownMiBMax, runFuzz } from '../fuzz/run-fuzz.ts'
import { repetitions, seed } from '../support/long.ts'
import { makePlace, type DialectName } from '../support/places.ts'

/** Minimum number of successful calls: a run whose requests are all rejected would find nothing. */
const goodMin = Object.keys(endpoints).length * 0.45

const requestCount = repetitions({ sampled: 1500, whole: 10_000 })
const runs: readonly [DialectName, seed: number, requests: number][] = [
  ['SQLite', seed * 2, requestCount],
  ['SQLite', seed * 2 + 1, requestCount],
  ['PostgreSQL', seed * 2, requestCount],
]

describe('a node that receives random requests to every endpoint', () => {
  it.for(runs)('responds as the OpenAPI document specifies, on %s, run %#', async (run, context) => {
    const [dialect, ownSeed, requests] = run
    if (dialect === 'PostgreSQL') context.skip(inject('postgresUrl') === null, 'PostgreSQL could not be started')
    const place = await makePlace(dialect)
    const report = await runFuzz({
      location: place.location,
      seed: ownSeed,
      places: [tmpdir()],
      goesOn: (sent) => sent < requests,
    }).finally(() => place.remove())
    expect(report.findings, `seed ${ownSeed}`).toEqual([])
    expect(Object.keys(endpoints).length - report.neverGood.length).toBeGreaterThan(goodMin)
    expect(report.grownMiB).toBeLessThan(grownMiBMax)
  })
})
