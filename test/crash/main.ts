import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '../postgres.ts'
import { runKills, type KillOptions } from './kills.ts'
import { runImportKills, runSyncKills } from './mirror-kills.ts'

const { values, positionals } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const kills = Number(values.kills)
const seed = Number(values.seed)
console.log(`${kills} kills on ${values.postgres ? 'PostgreSQL' : 'SQLite'}, seed ${seed}`)
if (positionals.includes('mirror')) {
  await killMirrors()
  process.exit()
}
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

/** Kills mirrors as they sync and as they bring in a bundle, and the node that they sync from. */
async function killMirrors(): Promise<void> {
  const postgres = values.postgres ? await startPostgres() : undefined
  const openPlace = postgres && (async () => ({ databaseUrl: await postgres.createDatabase() }))
  for (const [what, run] of Object.entries({ sync: runSyncKills, import: runImportKills })) {
    const folder = mkdtempSync(join(tmpdir(), 'skillstead-crash-'))
    const outcome = await run({ folder, openPlace, kills, seed, onKill })
    rmSync(folder, { recursive: true, force: true })
    const counts = Object.entries(outcome).filter(([, value]) => !Array.isArray(value))
    console.table({ [what]: Object.fromEntries(counts) })
    const lists = Object.entries(outcome).filter(([, value]) => Array.isArray(value)) as [string, string[]][]
    for (const [fault, list] of lists) for (const each of list) console.error(`${fault}: ${each}`)
    if (lists.some(([, list]) => list.length > 0)) process.exitCode = 1
  }
  await postgres?.stop()
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
