import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openCuttable } from '../chaos/cut.ts'
import { runChaos } from '../chaos/run-chaos.ts'
import { startPostgres } from '../support/postgres.ts'
import { enterRunFolder } from '../support/run-folder.ts'
import { killCluster } from './cluster.ts'
import { runKills, type KillOptions } from './kills.ts'
import { runImportKills, runSyncKills } from './mirror-kills.ts'

const { values, positionals } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const kills = Number(values.kills)
const seed = Number(values.seed)
const acts: Record<string, () => Promise<void>> = {
  publishes: killPublishers,
  mirror: killMirrors,
  chaos: spoilMachine,
  cluster: () => killCluster({ kills, seed, onKill }),
}
const [what = 'publishes'] = positionals
const act = acts[what]
if (!act) throw new Error(`'${what}' is none of ${Object.keys(acts).join(', ')}.`)
const much = what === 'chaos' ? `${values.minutes} minutes of chaos` : `${kills} kills`
console.log(`${much} on ${values.postgres || what === 'cluster' ? 'PostgreSQL' : 'SQLite'}, seed ${seed}`)
// The run folder and its files are removed when the process exits.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
await enterRunFolder()
await act()
// The package of the database server leaves handles open that would keep the process alive.
process.exit()

function onKill(count: number): void {
  if (count % 20 === 0) console.log(`${count} kills`)
}

/** Kills nodes while they publish and deliver. */
async function killPublishers(): Promise<void> {
  const startedMs = performance.now()
  const report = await (values.postgres ? onPostgres : onSqlite)({ kills, seed, onKill })
  const { answered, stored, deliveries, repeated, turnedAway, killedWhileOpening, killedThreads, poisoned, ...faults } =
    report
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  console.table({
    kills,
    killedWhileOpening,
    killedThreads,
    poisoned,
    answered,
    stored,
    deliveries,
    repeated,
    turnedAway,
    seconds,
  })
  console.table(Object.fromEntries(Object.entries(faults).map(([fault, list]) => [fault, list.length])))
  tellFaults(faults)
}

/** Kills mirrors while they sync or import a bundle, and their upstream node. */
async function killMirrors(): Promise<void> {
  const postgres = values.postgres ? await startPostgres() : undefined
  const openPlace = postgres && (async () => ({ databaseUrl: await postgres.createDatabase() }))
  for (const [side, run] of Object.entries({ sync: runSyncKills, import: runImportKills })) {
    const folder = mkdtempSync(join(tmpdir(), 'skillstead-crash-'))
    const outcome = await run({ folder, openPlace, kills, seed, onKill })
    rmSync(folder, { recursive: true, force: true })
    const counts = Object.entries(outcome).filter(([, value]) => !Array.isArray(value))
    console.table({ [side]: Object.fromEntries(counts) })
    tellFaults(Object.fromEntries(Object.entries(outcome).filter(([, value]) => Array.isArray(value))))
  }
  await postgres?.stop()
}

/** Runs a node on a machine whose clock, disk and processes fail at random. */
async function spoilMachine(): Promise<void> {
  const server = values.postgres ? await startPostgres() : undefined
  const postgres = server && (await openCuttable(await server.createDatabase()))
  const { disk, happened, counts, faults } = await runChaos({
    seed,
    minutes: Number(values.minutes),
    postgres,
    onFault,
  })
  await postgres?.close()
  await server?.stop()
  console.log(`The disk that is filled: ${disk}`)
  console.table(happened)
  console.table(counts)
  tellFaults({ faults })
}

function onFault(name: string, count: number): void {
  console.log(`${count}: ${name}`)
}

function tellFaults(lists: Readonly<Record<string, readonly string[]>>): void {
  for (const [fault, list] of Object.entries(lists)) {
    for (const each of list) console.error(`${fault}: ${each}`)
    if (list.length > 0) process.exitCode = 1
  }
  if (process.exitCode === 1) console.error(`The seed is ${seed}.`)
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
