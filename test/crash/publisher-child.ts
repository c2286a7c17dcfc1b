import { setTimeout } from 'node:timers/promises'
import { localApi, systemClock, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { skillMd } from '../support/answers.ts'
import { onInspectOrder } from '../support/inspect-threads.ts'
import { openRegistry } from '../support/open-registry.ts'
import { poisonText } from '../support/poison.ts'

/** A process that publishes one version after another until it is killed, or only delivers what is left. */
export interface PublisherOptions {
  readonly location: Pick<RegistryOptions, 'path' | 'databaseUrl'>
  readonly ca: string
  /** The port on which every receiver listens. */
  readonly port: number
  readonly run: number
  /** How far the clock is ahead. */
  readonly clockStepMs: number
  readonly publishes: boolean
  /** The name of a skill whose versions the database refuses. */
  readonly poisonedName: string
}

export type PublisherSays =
  | { kind: 'ready' | 'drained' | 'poisoned' | 'thread-killed' }
  | { kind: 'answered'; version: string }
  | { kind: 'error'; message: string }

const publishers = 8
const skills = 5
const pauseMs = 4
const pollMs = 50
const patienceMs = 15_000
/** After every Nth publish, another event is emitted in a transaction that is rolled back. */
const rolledBackEvery = 7
/** Before every Nth publish, a version is published that the database refuses. */
const poisonedEvery = 5
/** One of this many orders ends the thread that inspects its versions. */
const threadKilledEvery = 10

const { location, ca, port, run, clockStepMs, publishes, poisonedName } = JSON.parse(
  process.argv[2]!,
) as PublisherOptions
const say = (says: PublisherSays) => void process.send!(says)
// Exit when the parent process is gone.
process.once('disconnect', () => process.exit(1))

const registry = await openRegistry({
  ...location,
  clock: { ...systemClock, now: () => Date.now() + clockStepMs },
  outgoing: {
    allowNetworks: ['127.0.0.0/8'],
    ca: [ca],
    resolver: { lookup: async () => [{ address: '127.0.0.1', port }], txt: async () => [] },
  },
  onError: (error) => say({ kind: 'error', message: String(error) }),
})
const { database, events } = partsOf(registry)
process.once('SIGTERM', async () => {
  await registry.close()
  process.exit(0)
})
let orders = 0
onInspectOrder((thread) => {
  orders += 1
  if (orders % threadKilledEvery !== 0) return
  say({ kind: 'thread-killed' })
  void thread.terminate()
})
say({ kind: 'ready' })
if (publishes) await Promise.all(Array.from({ length: publishers }, (_, i) => publishOn(i)))
await drain()
say({ kind: 'drained' })

async function publishOn(publisher: number): Promise<void> {
  const api = localApi(registry, await registry.getCaller('publisher'))
  for (let count = publisher; ; count += publishers) {
    const [name, version] = [`kept-${count % skills}`, `1.${run}.${count}`]
    if (count % poisonedEvery === 0) await publishPoisoned(api, version)
    await api.publishSkill({ skillMd: skillMd(name, { version, body: `Published as number ${count} of run ${run}.` }) })
    say({ kind: 'answered', version: `publisher/${name}@${version}` })
    if (count % rolledBackEvery === 0) await rollBack()
    await setTimeout(pauseMs)
  }
}

/** Publishes a version that fails in the database, in a group with others. */
async function publishPoisoned(api: RegistryApi, version: string): Promise<void> {
  try {
    await api.publishSkill({ skillMd: skillMd(poisonedName, { version }) })
    say({ kind: 'error', message: `${poisonedName}@${version} was accepted.` })
  } catch (error) {
    if (!String(error).includes(poisonText)) throw error
    say({ kind: 'poisoned' })
  }
}

/** Emits the event of a version in a transaction that is rolled back. */
async function rollBack(): Promise<void> {
  const skill = { id: partsOf(registry).epoch.toString(), name: 'never', fullName: 'publisher/never' }
  const publisher = { id: skill.id, username: 'publisher' }
  const data = () => ({ skill: { ...skill, version: `1.${run}.0`, description: '', securityScore: 100 }, publisher })
  const refused = new Error('This is rolled back.')
  await database.writer
    .write(async (trx) => {
      await events.emit(trx, { event: 'skill.published', data })
      throw refused
    })
    .catch((error: unknown) => {
      if (error !== refused) throw error
    })
}

/** Waits until all deliveries are done, or until none was done for 15 s. */
async function drain(): Promise<void> {
  let waiting = Infinity
  for (let sinceMs = performance.now(); performance.now() - sinceMs < patienceMs; await setTimeout(pollMs)) {
    const { count } = await database.read
      .selectFrom('outbox')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('topic', '=', 'webhook.delivery')
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow()
    if (count === 0) return
    if (count !== waiting) sinceMs = performance.now()
    waiting = count
  }
}
