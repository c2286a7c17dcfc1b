import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { isSampled, sample, seed } from './test/support/long.ts'

/** What a sampled long run has of the suites that `pnpm test` runs in two of their four variants. */
const sampledFiles = 8
/** And of the files that install clients of other ecosystems, minutes each. */
const sampledClients = 2
/** And of the other long files, which take up to six minutes each. */
const sampledLong = 4
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

/** Some of the long files, and some of those with variants that only long runs have. */
function listSample(): string[] {
  const files = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted()
  const long = files.filter((file) => file.endsWith('.long.test.ts'))
  const withVariants = files.filter((file) => /(?:describeApi|InTurn)\(/.test(readFileSync(file, 'utf8')))
  return [
    ...sample(
      long.filter((file) => !file.startsWith(clientsFolder)),
      sampledLong,
    ),
    ...sample(
      long.filter((file) => file.startsWith(clientsFolder)),
      sampledClients,
    ),
    ...sample(withVariants, sampledFiles),
  ]
}
