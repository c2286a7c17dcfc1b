import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/postgres.ts',
    // Much of a test's time is spent waiting for children, disks and databases.
    maxWorkers: availableParallelism() + 1,
    // They end what hangs: how fast something is, the benchmarks tell. A test of a dozen commands takes 25 s on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
