import { defineConfig } from 'vitest/config'

export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/postgres.ts',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
