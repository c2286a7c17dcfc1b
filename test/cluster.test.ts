import { describe, expect, inject, it } from 'vitest'
import { runCluster } from './crash/cluster.ts'

const isMissing = inject('postgresUrl') === null

describe.skipIf(isMissing)('three nodes on one PostgreSQL behind a balancer', () => {
  it(
    'keep what they answered, and answer on, while nodes and the database are killed',
    { timeout: 600_000 },
    async () => {
      const seed = Math.floor(Math.random() * 1_000_000)
      const { faults, answered, stored, killedNodes, killedDatabases } = await runCluster({ kills: 4, seed })
      const none = { lost: [], halves: [], deliveries: [], log: [], differing: [], answers: [], nodes: [] }
      expect(faults, `seed ${seed}`).toEqual(none)
      expect([killedNodes, killedDatabases]).toEqual([2, 2])
      expect(answered).toBeGreaterThan(0)
      expect(stored).toBeGreaterThanOrEqual(answered)
    },
  )
})
