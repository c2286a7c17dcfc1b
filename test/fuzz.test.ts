import { tmpdir } from 'node:os'
import { describe, expect, inject, it } from 'vitest'
import { endpoints } from '@skillstead/protocol'
import { grownMiBMax, runFuzz } from './fuzz/run-fuzz.ts'
import { makePlace, type DialectName } from './places.ts'

/** The long form takes another one each time; `FUZZ_SEED` tries one again here. */
const seed = Number(process.env.FUZZ_SEED ?? 7545)
/** So much of the interface has to be reached at least, for a run that is only refused finds nothing. */
const goodMin = Object.keys(endpoints).length * 0.45

const runs: readonly [DialectName, seed: number, requests: number][] = [
  ['SQLite', seed * 2, 1500],
  ['SQLite', seed * 2 + 1, 1500],
  ['PostgreSQL', seed * 2, 1000],
]

describe('requests of every kind to every endpoint', () => {
  it.for(runs)('%s, seed %i: %i requests find nothing that is not as the document says', async (run, context) => {
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
