import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../postgres.ts'
import { runKills, type KillOptions } from './kills.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
const seed = Number(values.seed)
console.log(`${kills} kills on ${values.postgres ? 'PostgreSQL' : 'SQLite'}, seed ${seed}`)
const startedMs = performance.now()
const report = await (values.postgres ? onPostgres : onSqlite)({ kills, seed, onKill })
const { answered, stored, deliveries, repeated, turnedAway, killedWhileOpening, ...faults } = report
const seconds = Math.round((performance.now() - startedMs) / 1000)
console.table({ kills, killedWhileOpening, answered, stored, deliveries, repeated, turnedAway, seconds })
console.table(Object.fromEntries(Object.entries(faults).map(([fault, list]) => [fault, list.length])))
for (const [fault, list] of Object.entries(faults)) for (const each of list) console.error(`${fault}: ${each}`)
process.exitCode = Object.values(faults).some((list) => list.length > 0) ? 1 : 0

function onKill(count: number): void {
  if (count % 20 === 0) console.log(`${count} kills`)
}

async function onSqlite(options: Omit<KillOptions, 'location'>) {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-crash-'))
  try {
    return await runKills({ ...options, location: { path: join(folder, 'skillstead.db') } })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgres(options: Omit<KillOptions, 'location'>) {
  const postgres = await startPostgres()
  try {
    return await runKills({ ...options, location: { databaseUrl: await postgres.createDatabase() } })
  } finally {
    await postgres.stop()
  }
}
