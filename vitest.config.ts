import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { isSampled, sample, sampleSize, seed } from './test/support/long.ts'

const clientsFolder = 'test/gateways/'

/** The connections of more workers would not fit the test server. */
const workersMax = 8

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long'
  // The run's other modules read them, each from a copy of `long.ts` of its own.
  process.env['SKILLSTEAD_TEST_SEED'] = String(seed)
  process.env['SKILLSTEAD_TEST_LONG'] = isLong ? '1' : ''
  return {
    ssr: { resolve: { conditions: ['source'] } },
    test: {
      include: isLong && isSampled ? listSample() : ['test/**/*.test.ts'],
      exclude: ['**/node_modules/**', ...(isLong ? [] : ['**/*.long.test.ts'])],
      globalSetup: ['test/support/run-folder.ts', 'test/support/postgres.ts', 'test/support/browser-server.ts'],
      reporters: ['./test/support/line-reporter.ts'],
      setupFiles: ['test/support/setup.ts'],
      // Modules load and the scanner's tables are built once a worker instead of once a file.
      isolate: false,
      // Tests wait for child processes, disks and databases for much of their time.
      maxWorkers: Math.min(availableParallelism() + 2, workersMax),
      // Limits end what hangs; the benchmarks judge speed.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
    },
  }
})

/**
 * Some of the long files, half as many of those that install clients of other ecosystems (minutes each), and twice as
 * many of the suites with variants that only long runs have.
 */
function listSample(): string[] {
  const files = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted()
  const long = files.filter((file) => file.endsWith('.long.test.ts'))
  const withVariants = files.filter((file) =>
    /(?:describeApi|describeMatrix|InTurn)\(/.test(readFileSync(file, 'utf8')),
  )
  return [
    ...sample(
      long.filter((file) => !file.startsWith(clientsFolder)),
      sampleSize,
    ),
    ...sample(
      long.filter((file) => file.startsWith(clientsFolder)),
      Math.ceil(sampleSize / 2),
    ),
    ...sample(withVariants, 2 * sampleSize),
  ]
}
