import { setTimeout } from 'node:timers/promises'
import { createRequire } from 'node:module'
import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { listenNode } from '@skillstead/server'
import { processIo } from '../../packages/cli/src/process-io.ts'
import { toDeliveries } from '../../packages/core/src/webhooks/events.ts'
import { openRegistry } from '../support/open-registry.ts'

/** A node in a process of its own whose webhooks are told of what a benchmark makes up. */
export interface WebhooksChildOptions {
  readonly registry: RegistryOptions
  readonly receivers: Receivers
}

/** Where the receivers listen, under names of `hooks.test`. */
export interface Receivers {
  readonly port: number
  readonly refused: number
  readonly ca: string
}

interface Undici {
  Agent: new (options: object) => {
    request(options: object): Promise<{ body: { dump(): Promise<void> } }>
    close(): Promise<void>
  }
}

const fillMax = 1000
/** Events that are on their way at a time while a stream runs, and emitters that write them. */
const leadMax = 1000
const emitters = 48
const sampleMs = 250
const tickMs = 2

const { registry: location, receivers } = JSON.parse(process.argv[2]!) as WebhooksChildOptions
processIo.limitMemory?.()
const lookup = async (host: string) => [
  { address: '127.0.0.1', port: host.startsWith('refuses.') ? receivers.refused : receivers.port },
]
const registry = await openRegistry({
  ...location,
  outgoing: {
    allowNetworks: ['127.0.0.0/8'],
    ca: [receivers.ca],
    resolver: { lookup, txt: async () => [] },
  },
})
const node = await listenNode(registry, { port: 0, rates: 'off', logger: undefined })
const { database, outbox, events } = partsOf(registry)
let samples: { rssMib: number; heapMib: number }[] = []
let sampler: NodeJS.Timeout | undefined

/** What the benchmark may ask for. */
const commands = {
  /** Webhooks, each of a user of its own, in place of those that were; each at a host of its own. */
  async setUp({ webhooks, path }: { webhooks: number; path: string }) {
    await outbox.stop()
    await database.writer.write(async (trx) => {
      await trx.deleteFrom('outbox').where('topic', '=', 'webhook.delivery').execute()
      await trx.deleteFrom('webhooks').execute()
      for (let i = 0; i < webhooks; i++) await insertWebhook(trx, i, path)
    })
    outbox.start()
  },
  /** Sends what one webhook is told elsewhere. */
  async aim({ index, url }: { index: number; url: string }) {
    await database.writer.write(async (trx) => {
      await trx.updateTable('webhooks').set({ url }).where('id', '=', `w${index}`).execute()
      await trx.deleteFrom('outbox').where('partition', '=', `w${index}`).execute()
    })
  },
  /** Rows that wait; `start` has them delivered. */
  async fill({ rows, webhooks }: { rows: number; webhooks: number }) {
    await outbox.stop()
    const told = Array.from({ length: webhooks }, (_, i) => ({ ...subscriber, webhookId: `w${i}`, url: toUrl(i) }))
    for (let i = 0; i < rows; i += fillMax) {
      const jobs = Array.from({ length: Math.min(fillMax, rows - i) }, (_, k) => {
        const [job] = toDeliveries(
          [told[(i + k) % webhooks]!],
          'user.followed',
          toData(i + k),
          partsOf(registry).clock.now(),
        )
        return job!
      })
      await database.writer.write((trx) => outbox.enqueue(trx, ...jobs))
    }
  },
  async start() {
    outbox.start()
  },
  async stop() {
    await outbox.stop()
  },
  /** Emits one event after another, each to one webhook of many, or to all of them. */
  async stream({ webhooks, seconds, isShared }: { webhooks: number; seconds: number; isShared: boolean }) {
    const endMs = performance.now() + seconds * 1000
    let number = 0
    let isFull = false
    const emitter = async () => {
      while (performance.now() < endMs) {
        if (isFull) await setTimeout(5)
        else await (isShared ? emitToAll() : emitTo(number++ % webhooks, number))
      }
    }
    const watch = async () => {
      while (performance.now() < endMs) {
        isFull = (await outbox.figures()).pending > leadMax
        await setTimeout(5)
      }
    }
    await Promise.all([watch(), ...Array.from({ length: emitters }, emitter)])
  },
  /** Emits so many events a second, and answers when each was committed. */
  async steady({ webhooks, perSecond, seconds }: { webhooks: number; perSecond: number; seconds: number }) {
    const committed: [number: number, index: number, atMs: number][] = []
    const startMs = performance.now()
    const writes: Promise<void>[] = []
    const emit = async (number: number) => {
      const index = number % webhooks
      await emitTo(index, number)
      committed.push([number, index, performance.timeOrigin + performance.now()])
    }
    for (let number = 0; number < perSecond * seconds;) {
      const due = ((performance.now() - startMs) * perSecond) / 1000
      while (number < due && number < perSecond * seconds) writes.push(emit(number++))
      await setTimeout(tickMs)
    }
    await Promise.all(writes)
    return committed
  },
  /** The yardstick: POSTs the same body to the same receivers over reused connections, and does nothing else. */
  async bare({ rows, webhooks, atOnce }: { rows: number; webhooks: number; atOnce: number }) {
    const { Agent } = createRequire(new URL('../../packages/core/package.json', import.meta.url))('undici') as Undici
    const connect = { ca: receivers.ca, lookup: toReceivers }
    const agent = new Agent({ connect, connections: 64 })
    const [job] = toDeliveries([{ ...subscriber, webhookId: 'w0', url: toUrl(0) }], 'user.followed', toData(0), 0)
    const { body } = job!.payload as { body: string }
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    let sent = 0
    const sender = async () => {
      while (sent < rows) {
        const origin = `https://r${sent++ % webhooks}.hooks.test:${receivers.port}`
        const answer = await agent.request({ origin, path: '/', method: 'POST', headers, body })
        await answer.body.dump()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, sender))
    await agent.close()
  },
  async beginSamples() {
    globalThis.gc?.()
    samples = []
    sampler = setInterval(() => void samples.push(readMemory()), sampleMs)
  },
  async endSamples() {
    clearInterval(sampler)
    globalThis.gc?.()
    return { samples, after: readMemory() }
  },
  cpu: async () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
  figures: async () => ({ ...(await outbox.figures()) }),
  warm: () => partsOf(registry).search.warmed,
}
export type WebhooksCommands = typeof commands

const subscriber = { skills: null, userId: '', username: '', role: 'user' as const }

process.on('message', async ({ name, input }: { name: keyof WebhooksCommands; input: never }) => {
  process.send!({ result: (await commands[name](input)) ?? null })
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await node.close()
  await registry.close()
  process.exit(0)
})
process.send!({ port: node.port })

type Trx = Parameters<Parameters<typeof database.writer.write>[0]>[0]

async function insertWebhook(trx: Trx, i: number, path: string): Promise<void> {
  const user = {
    id: `hooks${i}`,
    username: `hooks${i}`,
    display_name: '',
    plan: 'pro',
    role: 'user',
    disabled: 0,
  } as const
  const times = { created_at: 0, updated_at: 0 }
  const secret = `whsec_${Buffer.alloc(24, i + 1).toString('base64')}`
  await trx
    .insertInto('users')
    .values({ ...user, claimed: 1, created_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await trx
    .insertInto('webhooks')
    .values({
      id: `w${i}`,
      user_id: user.id,
      url: toUrl(i, path),
      events: '[]',
      secret,
      active: 1,
      failed_run: 0,
      ...times,
    })
    .execute()
  for (const event of ['user.followed', 'skill.published'])
    await trx
      .insertInto('webhook_subscriptions')
      .values({ event, user_id: user.id, webhook_id: `w${i}` })
      .execute()
}

function toUrl(index: number, path = '/'): string {
  return `https://r${index}.hooks.test:${receivers.port}${path}`
}

function toData(number: number) {
  return { follower: { id: '01890a5d-ac96-774b-bcce-b302099a8057', username: 'a-follower' }, followerCount: number }
}

function emitTo(index: number, number: number): Promise<void> {
  return database.writer.write((trx) =>
    events.emit(trx, { event: 'user.followed', ownerId: `hooks${index}`, data: () => toData(number) }),
  )
}

async function emitToAll(): Promise<void> {
  const { skill, publisher } = await (example ??= publishExample())
  const shown = { ...skill, version: '1.0.0', description: 'What it does.', securityScore: 100 }
  await database.writer.write((trx) =>
    events.emit(trx, { event: 'skill.published', data: () => ({ skill: shown, publisher }) }),
  )
}

/** A delivery is sent only while its user may read the skill, so the skill must exist. */
let example: ReturnType<typeof publishExample> | undefined

async function publishExample() {
  const username = 'a-publisher'
  const { id: userId } = await localApi(registry, systemCaller).createUser({ username, plan: 'pro' })
  const api = localApi(registry, await registry.getCaller(username))
  const skillMd = '---\nname: a-skill\ndescription: What it does.\n---\n'
  const { skill } = await api.publishSkill({ skillMd, visibility: 'public' })
  const { id, name, fullName } = skill
  return { skill: { id, name, fullName }, publisher: { id: userId, username } }
}

function toReceivers(_host: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void): void {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

function readMemory() {
  const { rss, heapUsed } = process.memoryUsage()
  return { rssMib: rss / 1024 / 1024, heapMib: heapUsed / 1024 / 1024 }
}
