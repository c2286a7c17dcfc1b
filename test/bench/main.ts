import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { localApi, openRegistry, systemCaller, type RegistryOptions } from '@skillstead/core'
import { startPostgres } from '../postgres.ts'
import { benchClient } from './client.ts'
import { benchPairs } from './copies.ts'
import { benchScale } from './copies-scale.ts'
import { benchDashboard } from './dashboard.ts'
import { benchHeartbeat } from './heartbeat.ts'
import { benchHttp } from './http.ts'
import { benchImport } from './import.ts'
import { benchScan } from './scan.ts'
import { benchLoading } from './loading.ts'
import { benchLogs } from './log.ts'
import { benchMirror } from './mirror.ts'
import { run as benchSearch } from './search.ts'
import { benchRankings, benchTrack } from './usage.ts'
import { benchWebhooks } from './webhooks.ts'

const { values, positionals } = parseArgs({
  options: {
    corpus: { type: 'string' },
    security: { type: 'string' },
    sqlite: { type: 'boolean' },
    postgres: { type: 'boolean' },
    every: { type: 'string', default: '1' },
    skills: { type: 'string' },
    tenfold: { type: 'boolean' },
    built: { type: 'boolean' },
  },
  allowPositionals: true,
})
const corpusDir = values.corpus
const wants = (part: string) => positionals.length === 0 || positionals.includes(part)
if (values.security && wants('scan')) {
  await benchScan(values.security, corpusDir)
  if (positionals.length === 1) process.exit()
}
// It needs no corpus.
if (positionals.includes('client') || (corpusDir && wants('client'))) {
  await benchClient()
  if (positionals.length === 1) process.exit()
}
// It makes its own skills.
if (positionals.includes('dashboard') || (corpusDir && wants('dashboard'))) {
  await benchDashboard(toSkills(values.skills))
  if (positionals.length === 1) process.exit()
}
// Without a corpus it measures; with one it holds its documents against budgets too.
if (positionals.includes('loading')) {
  await benchLoading(corpusDir, toEvery(values.every))
  if (positionals.length === 1) process.exit()
}
// It makes its own entries.
if (positionals.includes('log') || (corpusDir && wants('log'))) {
  await benchLogs(values)
  if (positionals.length === 1) process.exit()
}
if (!corpusDir || !existsSync(join(corpusDir, 'open.ndjson.gz'))) {
  console.error(
    'Say where the corpus is: pnpm bench --corpus DIR [--sqlite] [--postgres] [search] [import] [http] [track] [heartbeat] [rankings] [webhooks] [mirror [--skills N] [--tenfold] [--built]], pnpm bench log, pnpm bench client, pnpm bench dashboard [--skills N], pnpm bench loading [--corpus DIR [--every N]], or pnpm bench scan --security FILE [--corpus DIR]',
  )
  process.exit(2)
}
const everywhere = !values.sqlite && !values.postgres

if (wants('mirror')) {
  await benchMirror(corpusDir, { skills: toSkills(values.skills), tenfold: values.tenfold, built: values.built })
}
if (wants('search')) benchSearch(corpusDir)
if (wants('copies')) {
  for (const bench of [benchPairs, benchScale]) {
    if (values.sqlite || everywhere) await bench('SQLite', { path: join(scratch(), 'skillstead.db') }, corpusDir)
    if (values.postgres) {
      const postgres = await startPostgres()
      await bench('PostgreSQL', { databaseUrl: await postgres.createDatabase() }, corpusDir)
      await postgres.stop()
    }
  }
}
if (['import', 'http', 'track', 'heartbeat', 'rankings', 'webhooks'].some(wants)) {
  if (values.sqlite || everywhere) {
    const dir = scratch()
    await benchOn('SQLite', { path: join(dir, 'skillstead.db') }, ['--data', dir])
  }
  if (values.postgres || everywhere) {
    const postgres = await startPostgres()
    const databaseUrl = await postgres.createDatabase()
    await benchOn('PostgreSQL', { databaseUrl }, ['--database-url', databaseUrl])
    await postgres.stop()
  }
}

async function benchOn(title: string, location: RegistryOptions, place: readonly string[]): Promise<void> {
  await benchImport(title, place, corpusDir!)
  if (wants('track')) await benchTrack(title, location)
  if (wants('heartbeat')) await benchHeartbeat(title, location)
  if (wants('rankings')) await benchRankings(title, location)
  if (wants('webhooks')) await benchWebhooks(title, location, corpusDir!)
  if (!wants('http')) return
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench' })
  await registry.close()
  await benchHttp(title, location, key, corpusDir!)
}

function toSkills(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

/** Every so-manyth document of the corpus. */
function toEvery(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  console.error('--every takes a whole number from 1: 50 for every fiftieth document.')
  process.exit(2)
}

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'skillstead-bench-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  return dir
}
