import { defineConfig } from 'vitest/config'

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/postgres.ts',
    // Most of a test's time is spent waiting for children, disks and databases, so that no processor is kept free.
    maxWorkers: '100%',
    // They end what hangs: how fast something is, the benchmarks tell. A test of a dozen commands takes 25 s on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
