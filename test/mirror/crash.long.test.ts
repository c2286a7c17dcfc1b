import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { runImportKills, runSyncKills } from '../crash/mirror-kills.ts'
import { repetitions, seed } from '../support/long.ts'
import { makePlace, type Place } from '../support/places.ts'

/** `pnpm crash mirror` does the same two hundred times. */
const kills = repetitions({ sampled: 4, whole: 20 })
const patienceMs = 900_000
const faults = { damage: [], madeUp: [], different: [], repeated: [], errors: [] }

describe.each(['SQLite', 'PostgreSQL'] as const)('a mirror on %s', (dialect) => {
  const places: Place[] = []
  const folders: string[] = []
  const isMissing = dialect === 'PostgreSQL' && inject('postgresUrl') === null
  afterEach(async () => {
    for (const place of places.splice(0)) await place.remove()
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })
  async function openPlace() {
    const place = await makePlace(dialect)
    places.push(place)
    return place.location
  }
  const makeOptions = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skillstead-crash-'))
    folders.push(folder)
    return { folder, openPlace, kills, seed }
  }

  it.skipIf(isMissing)(
    "ends in exactly the upstream's state if it or the upstream is killed during a sync",
    async () => {
      const report = await runSyncKills(await makeOptions())
      expect(report, `with seed ${seed}`).toMatchObject(faults)
      expect(report.versions).toBeGreaterThan(20)
    },
    patienceMs,
  )

  it.skipIf(isMissing)(
    "ends in exactly the bundle's state if it is killed during an import",
    async () => {
      const report = await runImportKills(await makeOptions())
      expect(report, `with seed ${seed}`).toMatchObject(faults)
      expect(report.versions).toBeGreaterThan(20)
    },
    patienceMs,
  )
})
