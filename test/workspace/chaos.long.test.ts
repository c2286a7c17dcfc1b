import { describe, expect, it } from 'vitest'
import { runChaos } from '../chaos/run-chaos.ts'
import { repetitions, seed } from '../support/long.ts'

const patienceMs = 1_200_000

/** `pnpm crash chaos --minutes 60` runs the same for an hour; `--postgres` uses PostgreSQL. */
describe('a node on a failing machine', () => {
  it(
    'keeps acknowledged writes, never shows partial writes, and stays consistent through every kind of fault',
    async () => {
      const { faults, happened, counts, disk } = await runChaos({
        seed,
        minutes: repetitions({ sampled: 0, whole: 5 }),
      })
      console.log(`Chaos with seed ${seed}; the disk that is filled is ${disk}.`)
      expect(faults, `with seed ${seed}`).toEqual([])
      const kinds = ['kill', 'stop', 'clock', 'slow disk', 'full disk', 'receivers', 'bucket', 'scan threads']
      expect(Object.keys(happened), 'every kind of fault').toEqual(expect.arrayContaining(kinds))
      for (const what of [
        'published',
        'reads',
        'stars',
        'reviews',
        'installs',
        'sessions',
        'compared',
        'copies',
        'largeFiles',
        'objects',
      ])
        expect(counts[what], what).toBeGreaterThan(0)
    },
    patienceMs,
  )
})
