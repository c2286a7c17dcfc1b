import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../support/postgres.ts'
import { enterRunFolder } from '../support/run-folder.ts'
import { grownMiBMax, runFuzz } from './run-fuzz.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    requests: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const requestsMax = values.requests === undefined ? Infinity : Number(values.requests)
const endsAtMs = performance.now() + Number(values.minutes) * 60_000
console.log(`${values.postgres ? 'PostgreSQL' : 'SQLite'}, seed ${seed}`)
await enterRunFolder()
const folder = mkdtempSync(join(tmpdir(), 'skillstead-fuzz-'))
const postgres = values.postgres ? await startPostgres() : undefined
try {
  const { findings, statuses, neverGood, ...counts } = await runFuzz({
    location: postgres ? { databaseUrl: await postgres.createDatabase() } : { path: join(folder, 'skills.db') },
    seed,
    places: [folder, ...(postgres ? [new URL(postgres.url).host] : [])],
    goesOn: (requests) => requests < requestsMax && performance.now() < endsAtMs,
    onProgress: (requests, found) => console.log(`${requests} requests, ${found} findings`),
    onFinding: (finding) => console.error(`\n${finding}`),
  })
  console.table({ ...counts, findings: findings.length })
  console.table(statuses)
  if (neverGood.length > 0) console.log(`Never answered with what was asked for: ${neverGood.join(', ')}`)
  process.exitCode = findings.length > 0 || counts.grownMiB >= grownMiBMax ? 1 : 0
} finally {
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
}
