import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { seededRandom } from '../support/random.ts'
import { openOutside } from '../support/outside.ts'
import { openS3Server } from '../support/s3-server.ts'
import { checkAtRest, compareLog, listStored, waitForDeliveries } from './compare.ts'
import { openDisk, type Disk } from './disk.ts'
import { makeUsers, startLoad, watchers } from './load.ts'
import { faults, listFaults, type FaultParts } from './machine-faults.ts'
import { startNode } from './node-process.ts'
import { openReceivers } from './receivers.ts'
import { createTrouble } from './trouble.ts'

export interface ChaosOptions {
  /** Determines the faults, their times and the actions of the users. */
  readonly seed: number
  /** The duration. Every kind of fault happens at least once, even if that takes longer. */
  readonly minutes: number
  /** Use this database server instead of a SQLite file on a small disk. */
  readonly postgres?: { readonly databaseUrl: string; cut(): Promise<void> }
  readonly onFault?: (name: string, count: number) => void
}

export interface ChaosReport {
  /** How the disk was filled. */
  readonly disk: string
  readonly happened: Readonly<Record<string, number>>
  readonly counts: Readonly<Record<string, number>>
  /** The violations found, each with the machine faults before it. Empty if the run passed. */
  readonly faults: readonly string[]
}

const bucketPrefix = 'chaos'
const noDisk = 'none, as the database is a server'
const faultPauseMs = 1500
/** The time after which all retries of a delivery are due. */
const retriesMs = 6 * 60 * 60 * 1000
/** The shortest backup interval that the option allows, so that every clock jump triggers a backup. */
const backups = ['--backup-every', '1m', '--backups-max', '2']
/** The networks that the node may connect to: the loopback addresses of the receivers. */
const networks = ['127.0.0.0/8', '::1/128']

/** Runs a node under load, injects every machine fault, and checks its responses against the recorded writes. */
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
    // After a violation the later checks would only report the same violation again.
    if (trouble.faults.length === 0) copies = await compareInTheEnd(scene)
  } catch (error) {
    trouble.end(String(error))
  } finally {
    await scene.close()
  }
  const { node, listObjects } = scene
  const more = { killedThreads: node.killedThreads, objects: (await listObjects()).length, copies }
  return {
    disk: postgres ? noDisk : disk.kind,
    happened,
    counts: { ...load.counts(), ...more },
    faults: trouble.faults,
  }
}

type Scene = Awaited<ReturnType<typeof openScene>>

/** Starts the machine, the node and the load. */
async function openScene(seed: number, disk: Disk, postgres: ChaosOptions['postgres']) {
  const trouble = createTrouble()
  const outside = await openOutside(['localhost'])
  writeFileSync(join(disk.folder, 'ca.pem'), outside.ca)
  const s3 = await openS3Server()
  const place = postgres ? { databaseUrl: postgres.databaseUrl } : { path: join(disk.folder, 'skillstead.db') }
  const location = { ...place, blobs: s3.toOptions(bucketPrefix) }
  const receivers = await openReceivers(outside, watchers)
  const users = await makeUsers({ ...location, outgoing: { allowNetworks: networks } }, receivers)
  const storage = postgres ? ['--database-url', postgres.databaseUrl] : ['--data', disk.folder, ...backups]
  const outgoing = ['--allow-networks', networks.join(), '--ca', join(disk.folder, 'ca.pem')]
  const limits = ['--rate-limits', 'off', '--webhook-off-after', '0']
  const args = [...storage, '--blobs', location.blobs.url, ...outgoing, ...limits]
  const node = await startNode(args, s3.env, (sentence) => trouble.end(sentence))
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
    setBucketFault: s3.setFault,
    listObjects: () => s3.listKeys(bucketPrefix),
    async close() {
      await load.end()
      await node.kill()
      await outside.close()
    },
  }
}

/** Compares responses, deliveries and the signed log with the stored data. Returns the number of backups. */
async function compareInTheEnd({ load, node, trouble, receivers, location }: Scene): Promise<number> {
  await load.inspect(true)
  await load.end()
  const jumpClock = async () => {
    await node.kill()
    await node.change({ clockMs: node.latestMs + retriesMs })
    await node.start()
  }
  await jumpClock()
  const stored = listStored(load.authors)
  compareLog(load.witness, stored, trouble)
  await waitForDeliveries(receivers, stored, trouble, jumpClock)
  load.witness.compareAll()
  if ((await node.stop()) !== 0) trouble.report('the node did not shut down gracefully')
  return checkAtRest(location, load.backups.made, trouble)
}

/** Yields every kind of fault once in random order, then random faults until the time is over. */
function* orderFaults(parts: FaultParts, isTime: () => boolean): Generator<string> {
  const names = listFaults(parts)
  const first = names.map((name) => [parts.random(), name] as const).toSorted(([a], [b]) => a - b)
  yield* first.map(([, name]) => name)
  while (isTime()) yield names[Math.floor(parts.random() * names.length)]!
}
