import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { seededRandom } from '../support/random.ts'
import { openOutside } from '../support/outside.ts'
import { checkAtRest, compareLog, listStored, untilTold } from './compare.ts'
import { openDisk, type Disk } from './disk.ts'
import { makeUsers, startLoad, watchers } from './load.ts'
import { faults, listFaults, type FaultParts } from './machine-faults.ts'
import { startNode } from './node-process.ts'
import { openReceivers } from './receivers.ts'
import { createTrouble } from './trouble.ts'

export interface ChaosOptions {
  /** Picks the faults, their moments and what the users do. */
  readonly seed: number
  /** How long it goes on; every kind of fault happens once in any case. */
  readonly minutes: number
  /** A database server's, in place of a file on a disk of its own. */
  readonly postgres?: { readonly databaseUrl: string; cut(): Promise<void> }
  readonly onFault?: (name: string, count: number) => void
}

export interface ChaosReport {
  /** How the disk was filled. */
  readonly disk: string
  readonly happened: Readonly<Record<string, number>>
  readonly counts: Readonly<Record<string, number>>
  /** What must not be, with the faults before it; empty where all is well. */
  readonly faults: readonly string[]
}

const noDisk = 'none, as the database is a server'
const faultPauseMs = 1500
/** All retries of a delivery are due by then. */
const retriesMs = 6 * 60 * 60 * 1000
/** As often as may be said: each leap of the clock makes one. */
const backups = ['--backup-every', '1m', '--backups-max', '2']
/** What the node may reach: this machine, where the receivers are. */
const networks = ['127.0.0.0/8', '::1/128']

/** Runs a node under a load on a machine that fails in every way, and holds what it answers against what was done. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const disk = openDisk()
  return runOn(disk, options).finally(() => disk.remove())
}

async function runOn(disk: Disk, { seed, minutes, postgres, onFault = () => {} }: ChaosOptions): Promise<ChaosReport> {
  const scene = await openScene(seed, disk, postgres)
  const { trouble, load } = scene
  const happened: Record<string, number> = {}
  const endMs = performance.now() + minutes * 60_000
  let count = 0
  let copies = 0
  try {
    for (const name of orderFaults(scene, () => performance.now() < endMs)) {
      await setTimeout(scene.random() * faultPauseMs)
      await faults[name]!(scene)
      happened[name] = (happened[name] ?? 0) + 1
      onFault(name, ++count)
      await load.inspect(false)
      if (trouble.faults.length > 0) break
    }
    // What went wrong once would be told again by all that comes after it.
    if (trouble.faults.length === 0) copies = await compareInTheEnd(scene)
  } catch (error) {
    trouble.end(String(error))
  } finally {
    await scene.close()
  }
  return { disk: postgres ? noDisk : disk.kind, happened, counts: { ...load.counts(), copies }, faults: trouble.faults }
}

type Scene = Awaited<ReturnType<typeof openScene>>

/** The machine, the node on it, and everybody who uses the node. */
async function openScene(seed: number, disk: Disk, postgres: ChaosOptions['postgres']) {
  const trouble = createTrouble()
  const outside = await openOutside(['localhost'])
  writeFileSync(join(disk.folder, 'ca.pem'), outside.ca)
  const location = postgres ? { databaseUrl: postgres.databaseUrl } : { path: join(disk.folder, 'skillstead.db') }
  const receivers = await openReceivers(outside, watchers)
  const users = await makeUsers({ ...location, outgoing: { allowNetworks: networks } }, receivers)
  const place = postgres ? ['--database-url', postgres.databaseUrl] : ['--data', disk.folder, ...backups]
  const outgoing = ['--allow-networks', networks.join(), '--ca', join(disk.folder, 'ca.pem')]
  const bounds = ['--rate-limits', 'off', '--webhook-off-after', '0']
  const node = await startNode([...place, ...outgoing, ...bounds], (sentence) => trouble.end(sentence))
  const load = startLoad({ baseUrl: `http://127.0.0.1:${node.port}`, users, trouble, seed, backsUp: !postgres })
  return {
    trouble,
    location,
    receivers,
    node,
    load,
    random: seededRandom(seed),
    disk: postgres ? undefined : disk,
    cut: postgres?.cut,
    async close() {
      await load.end()
      await node.kill()
      await outside.close()
    },
  }
}

/** Everything that was answered, delivered and signed, against everything that is stored; how many copies there are. */
async function compareInTheEnd({ load, node, trouble, receivers, location }: Scene): Promise<number> {
  await load.inspect(true)
  await load.end()
  const leap = async () => {
    await node.kill()
    await node.change({ clockMs: node.latestMs + retriesMs })
    await node.start()
  }
  await leap()
  const stored = listStored(load.authors)
  compareLog(load.witness, stored, trouble)
  await untilTold(receivers, stored, trouble, leap)
  load.witness.compareAll()
  if ((await node.stop()) !== 0) trouble.tell('the node did not end in order')
  return checkAtRest(location, load.backups.made, trouble)
}

/** Every kind once, in any order, and then any for as long as there is time. */
function* orderFaults(parts: FaultParts, isTime: () => boolean): Generator<string> {
  const names = listFaults(parts)
  const first = names.map((name) => [parts.random(), name] as const).toSorted(([a], [b]) => a - b)
  yield* first.map(([, name]) => name)
  while (isTime()) yield names[Math.floor(parts.random() * names.length)]!
}
