import { describe, expect, inject, it } from 'vitest'
import { runCluster } from '../crash/cluster.ts'
import { repetitions, seed } from '../support/long.ts'

const kills = repetitions({ sampled: 4, whole: 8 })
const isMissing = inject('postgresUrl') === null

describe.skipIf(isMissing)('three nodes on one PostgreSQL behind a balancer', () => {
  it(
    'lose no acknowledged write and keep responding while nodes and the database are killed',
    { timeout: 600_000 },
    async () => {
      const { faults, answered, stored, killedNodes, killedDatabases } = await runCluster({ kills, seed })
      const none = { lost: [], halves: [], deliveries: [], log: [], differing: [], answers: [], nodes: [] }
      expect(faults, `seed ${seed}`).toEqual(none)
      expect([killedNodes, killedDatabases]).toEqual([kills / 2, kills / 2])
      expect(answered).toBeGreaterThan(0)
      expect(stored).toBeGreaterThanOrEqual(answered)
    },
  )
})
