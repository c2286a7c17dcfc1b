import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { localApi, systemCaller, type Registry, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { createBundle, createMirror, importBundle } from '@skillstead/mirror'
import { findDamage, publishVersions, readState } from '../support/mirror-state.ts'
import { seededRandom } from '../support/random.ts'
import type { MirrorChildOptions, MirrorChildSays } from './mirror-child.ts'
import { openRegistry } from '../support/open-registry.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

type Location = Pick<RegistryOptions, 'path' | 'databaseUrl'>

export interface MirrorKillOptions {
  /** The folder of the upstream, and of the mirror unless `openPlace` is given. */
  readonly folder: string
  /** Opens an empty database for each new mirror. */
  readonly openPlace?: () => Promise<Location>
  readonly kills: number
  /** The same seed kills the same processes after the same times, measured from when a process is ready. */
  readonly seed: number
  readonly onKill?: (count: number) => void
}

/** The result of a run. The lists are empty if the run passed. */
export interface MirrorKillReport {
  readonly killedMirrors: number
  readonly killedUpstreams: number
  /** The number of versions at the end. */
  readonly versions: number
  /** How often an import completed before its process was killed. */
  readonly finished: number
  /** Damage found in the mirror after a kill. */
  readonly damage: string[]
  /** Versions of the mirror after a kill that the upstream never had. */
  readonly madeUp: string[]
  /** Differences between the mirror and the upstream at the end. */
  readonly different: string[]
  /** Versions that the mirror's own log contains twice. */
  readonly repeated: string[]
  /** Unexpected errors of the processes. */
  readonly errors: string[]
}

const upstreamsKilled = 1 / 3
const lifeMsMax = 600
const skillsAtFirst = 20
const bundledSkills = 150

/** Kills a syncing mirror or its upstream node, and compares the remaining data with what was published. */
export async function runSyncKills(options: MirrorKillOptions): Promise<MirrorKillReport> {
  const { kills, seed, onKill } = options
  const random = seededRandom(seed)
  const tally = createTally()
  const upstreamAt = { path: join(options.folder, 'upstream.db') }
  await makeUpstream(upstreamAt, skillsAtFirst)
  const startUpstream = (run: number, port: number, publishes = true) =>
    start({ role: 'upstream', location: upstreamAt, port, run, publishes }, tally)
  let upstream = startUpstream(1, 0)
  const port = (await upstream.isReady).port!
  const location = await openPlace(options, 'mirror.db')
  await addUpstream(location, `http://127.0.0.1:${port}`)

  for (let kill = 0; kill < kills; kill += 1) {
    const mirror = start({ role: 'sync', location }, tally)
    await mirror.isReady
    await setTimeout(random() * lifeMsMax)
    if (random() < upstreamsKilled) {
      tally.killedUpstreams += 1
      await upstream.end('SIGKILL')
      await setTimeout(random() * lifeMsMax)
      upstream = startUpstream(kill + 2, port)
      await upstream.isReady
      await setTimeout(random() * lifeMsMax)
    }
    tally.killedMirrors += 1
    await mirror.end('SIGKILL')
    await checkAfterKill(location, tally)
    onKill?.(kill + 1)
  }
  await upstream.end('SIGKILL')
  upstream = startUpstream(kills + 2, port, false)
  await upstream.isReady
  const last = await openRegistry({ ...location, works: false })
  await createMirror(last).sync('main')
  const report = await compare(upstreamAt, last, tally)
  await last.close()
  await upstream.end('SIGKILL')
  return report
}

/** Kills a process that imports a bundle. After a complete import the next process starts with an empty registry. */
export async function runImportKills(options: MirrorKillOptions): Promise<MirrorKillReport> {
  const { folder, kills, seed, onKill } = options
  const random = seededRandom(seed)
  const tally = createTally()
  const upstreamAt = { path: join(folder, 'publisher.db') }
  const file = join(folder, 'skills.bundle')
  await makeUpstream(upstreamAt, bundledSkills)
  const publisher = await openRegistry({ ...upstreamAt, works: false })
  await createBundle(publisher, file)
  await publisher.close()

  let location = await openPlace(options, 'imported.db')
  // Measure the duration of one import, so that the kills happen during an import.
  const startedMs = performance.now()
  await importInto(location, file)
  const lastsMs = performance.now() - startedMs
  location = await openPlace(options, 'imported.db')
  for (let kill = 0; kill < kills; kill += 1) {
    const child = start({ role: 'import', location, file }, tally)
    await child.isReady
    await Promise.race([setTimeout(random() * lastsMs), child.isDone])
    const isDone = await Promise.race([child.isDone.then(() => true), setTimeout(0, false)])
    tally.killedMirrors += 1
    await child.end('SIGKILL')
    await checkAfterKill(location, tally)
    if (isDone) {
      tally.finished += 1
      location = await openPlace(options, 'imported.db')
    }
    onKill?.(kill + 1)
  }
  await importInto(location, file)
  const last = await openRegistry({ ...location, works: false })
  const report = await compare(upstreamAt, last, tally)
  await last.close()
  return report
}

function createTally() {
  return {
    killedMirrors: 0,
    killedUpstreams: 0,
    finished: 0,
    damage: [] as string[],
    errors: [] as string[],
    /** All versions with digests that any mirror had at any time. */
    seen: new Set<string>(),
  }
}
type Tally = ReturnType<typeof createTally>

async function openPlace({ folder, openPlace: open }: MirrorKillOptions, name: string): Promise<Location> {
  if (open) return open()
  const path = join(folder, name)
  for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
  return { path }
}

async function makeUpstream(location: Location, skills: number): Promise<void> {
  const registry = await openRegistry({ ...location, origin: 'upstream.example', works: false })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  for (let i = 0; i < skills; i += 1) await publishVersions(alice, `skill-${i}`, (i % 3) + 1)
  await registry.close()
}

async function addUpstream(location: Location, url: string): Promise<void> {
  const registry = await openRegistry({ ...location, origin: 'mirror.example', works: false })
  await createMirror(registry).add('main', url, { everySeconds: 0 })
  await registry.close()
}

async function importInto(location: Location, file: string): Promise<void> {
  const registry = await openRegistry({ ...location, works: false })
  await importBundle(registry, file, { name: 'main' })
  await registry.close()
}

/** Checks the data after a kill: versions are complete, and the position is not ahead of the stored data. */
async function checkAfterKill(location: Location, tally: Tally): Promise<void> {
  const registry = await openRegistry({ ...location, works: false })
  tally.damage.push(...(await findDamage(registry)))
  const [row] = await withUpstreams(partsOf(registry).database.read).selectFrom('upstreams').selectAll().execute()
  if (row && !(row.applied <= row.verified && row.verified <= row.staged)) {
    tally.damage.push(`position: applied ${row.applied}, verified ${row.verified}, staged ${row.staged}`)
  }
  for (const line of await readState(registry)) tally.seen.add(toVersion(line))
  await registry.close()
}

async function compare(upstreamAt: Location, mirror: Registry, tally: Tally): Promise<MirrorKillReport> {
  const upstream = await openRegistry({ ...upstreamAt, works: false })
  const [there, here] = [await readState(upstream), await readState(mirror)]
  const rows = await partsOf(upstream)
    .database.read.selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select(['skills.full_name', 'versions.version', 'versions.digest'])
    .execute()
  await upstream.close()
  const published = new Set(rows.map((row) => toVersion(JSON.stringify(row))))
  const log = await partsOf(mirror)
    .database.read.selectFrom('log')
    .select('subject')
    .where('type', '=', 'version')
    .execute()
  const subjects = log.map(({ subject }) => subject)
  const { killedMirrors, killedUpstreams, finished, errors } = tally
  return {
    killedMirrors,
    killedUpstreams,
    finished,
    errors,
    versions: here.length,
    damage: [...tally.damage, ...(await findDamage(mirror))],
    madeUp: [...tally.seen].filter((version) => !published.has(version)),
    different: [...there.filter((line) => !here.includes(line)), ...here.filter((line) => !there.includes(line))],
    repeated: subjects.filter((subject, i) => subjects.indexOf(subject) !== i),
  }
}

function toVersion(line: string): string {
  const { full_name, version, digest } = JSON.parse(line) as Record<string, string>
  return `${full_name}@${version} ${digest}`
}

function start(options: MirrorChildOptions, tally: Tally) {
  const child = fork(fileURLToPath(new URL('./mirror-child.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--conditions=source'],
  })
  const closed = once(child, 'close')
  const hears = <Kind extends MirrorChildSays['kind']>(kind: Kind) =>
    new Promise<Extract<MirrorChildSays, { kind: Kind }>>((resolve) =>
      child.on('message', (says: MirrorChildSays) => {
        if (says.kind === kind) resolve(says as Extract<MirrorChildSays, { kind: Kind }>)
      }),
    )
  const early = closed.then(() => Promise.reject(new Error(`A process (${options.role}) ended by itself.`)))
  early.catch(() => {})
  child.on('message', (says: MirrorChildSays) => says.kind === 'error' && tally.errors.push(says.message))
  const isDone = hears('done')
  return {
    isReady: Promise.race([hears('ready'), early]),
    isDone,
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await closed
    },
  }
}
