import { setTimeout } from 'node:timers/promises'
import type { RegistryOptions } from '@skillstead/core'
import { startProcess } from './children.ts'
import { fromRows, type Figure } from './figures.ts'
import { readDetailPaths, readSearchPaths } from './http.ts'
import { load, requireWrk, rotate } from './load.ts'
import { median, quantile } from './statistics.ts'
import type { Receivers, WebhooksChildOptions, WebhooksCommands } from './webhooks-child.ts'

/** How much is measured. */
interface WebhooksScale {
  readonly backlogRows: number
  readonly streamSeconds: number
  readonly turns: number
  readonly steadySeconds: number
}

const fullScale: WebhooksScale = { backlogRows: 100_000, streamSeconds: 10, turns: 4, steadySeconds: 10 }
const shortScale: WebhooksScale = { backlogRows: 15_000, streamSeconds: 3, turns: 2, steadySeconds: 3 }
const manyWebhooks = 100
/** As many POSTs at a time as the node has on their way, to one host and in all. */
const atOnce = { one: 64, many: 256 }
/** Well below what a node delivers: what is looked at is who waits for whom. */
const steadyPerSecond = 500
const slowSeconds = 8
const slowRows = 20_000
/** In which a delivery to a receiver that hangs is given up, and a little more. */
const deadlineMs = 6000
const readSeconds = 2
/** In which connections are made; what is looked at is what follows. */
const connectingMs = 1000
const pollMs = 20
const patienceMs = 30_000

interface Arrivals {
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  readonly arrivals: [number: number, atMs: number][]
  readonly cpuMs: number
}

type Bench = Awaited<ReturnType<typeof openBench>>

/**
 * Prints what one process delivers to receivers on loopback over HTTPS, how one dead receiver bears on the others, and
 * what a backlog costs those who read meanwhile.
 */
export async function benchWebhooks(
  title: string,
  location: RegistryOptions,
  corpusDir: string,
  { isFull = true } = {},
): Promise<Figure[]> {
  const scale = isFull ? fullScale : shortScale
  requireWrk()
  const bench = await openBench(location)
  console.log(`\nWebhooks on ${title}: deliveries a second, and the share of bare undici`)
  const rates = { ...(await measureBacklogs(bench, scale)), ...(await measureStreams(bench, scale)) }
  console.table(rates)
  console.log(`\nA dead receiver among ${manyWebhooks} on ${title}, ${steadyPerSecond} events a second: the others`)
  console.table(await measureDead(bench, scale))
  console.log(`\nReads over HTTP while a backlog drains on ${title}, in turns`)
  console.table(await measureReads(bench, corpusDir, scale))
  console.log(`\nReceivers that take a second each on ${title}`)
  console.table(await measureSlow(bench))
  await bench.stop()
  return fromRows(`Webhooks over TLS, compared with bare undici, ${title}`, rates, {
    column: 'perSecond',
    unit: 'deliveries/s',
  })
}

async function openBench(location: RegistryOptions) {
  const receiver = await startProcess<Receivers>('./receiver-child.ts', 'hooks.test')
  const options: WebhooksChildOptions = { registry: location, receivers: receiver.ready }
  const node = await startProcess<{ port: number }>('./webhooks-child.ts', JSON.stringify(options))

  async function call<Name extends keyof WebhooksCommands>(name: Name, ...input: Parameters<WebhooksCommands[Name]>) {
    const { result } = await node.ask<{ result: unknown }>({ name, input: input[0] ?? {} })
    return result as Awaited<ReturnType<WebhooksCommands[Name]>>
  }
  return {
    receivers: receiver.ready,
    url: `http://127.0.0.1:${node.ready.port}`,
    call,
    /** What arrived since it was asked last. */
    arrivals: () => receiver.ask<Arrivals>('arrivals'),
    stop: async () => void (await Promise.all([node.stop(), receiver.stop()])),
  }
}

async function measureBacklogs(bench: Bench, { backlogRows: rows }: WebhooksScale) {
  const results: Record<string, object> = {}
  for (const webhooks of [1, manyWebhooks]) {
    await bench.call('setUp', { webhooks, path: '/' })
    const bareBefore = await measureBare(bench, webhooks, rows)
    await bench.call('fill', { rows, webhooks })
    await bench.arrivals()
    await bench.call('beginSamples')
    const cpuMs = await bench.call('cpu')
    await bench.call('start')
    const drained = await waitFor(bench, rows)
    const busyMs = (await bench.call('cpu')) - cpuMs
    await setTimeout(1000)
    const { samples, after } = await bench.call('endSamples')
    const bare = (bareBefore + (await measureBare(bench, webhooks, rows))) / 2
    results[`backlog of ${rows}, ${webhooks} webhooks`] = {
      perSecond: Math.round(drained),
      bare: Math.round(bare),
      ratio: (drained / bare).toFixed(2),
      cpu: (busyMs / ((rows / drained) * 1000)).toFixed(2),
      ...toMemory(samples),
      heapAfterMib: after.heapMib.toFixed(0),
    }
  }
  return results
}

async function measureBare(bench: Bench, webhooks: number, rows: number): Promise<number> {
  await bench.arrivals()
  await bench.call('bare', { rows: Math.ceil(rows / 4), webhooks, atOnce: webhooks === 1 ? atOnce.one : atOnce.many })
  return toRate(await bench.arrivals())
}

/** Counts until so many came; answers how many came a second. */
async function waitFor(bench: Bench, rows: number): Promise<number> {
  let count = 0
  let startMs = 0
  for (;;) {
    const arrivals = await bench.arrivals()
    if (count === 0) startMs = arrivals.firstMs
    count += arrivals.count
    if (count >= rows) return (count / (arrivals.lastMs - startMs)) * 1000
    await setTimeout(pollMs)
  }
}

/** The most memory in an early part of a drain and in the last. */
function toMemory(samples: readonly { rssMib: number; heapMib: number }[]) {
  const part = (from: number, to: number) => samples.slice(samples.length * from, Math.ceil(samples.length * to))
  const max = (of: typeof samples, name: 'rssMib' | 'heapMib') => Math.max(...of.map((each) => each[name])).toFixed(0)
  const early = part(0.1, 0.4)
  const late = part(0.7, 1)
  return {
    rssMib: `${max(early, 'rssMib')} to ${max(late, 'rssMib')}`,
    heapMib: `${max(early, 'heapMib')} to ${max(late, 'heapMib')}`,
  }
}

async function measureStreams(bench: Bench, { streamSeconds: seconds }: WebhooksScale) {
  const results: Record<string, object> = {}
  const streams = [
    ['stream, 1 webhook', 1, false],
    [`stream, ${manyWebhooks} webhooks, an event each`, manyWebhooks, false],
    [`stream, ${manyWebhooks} webhooks, an event to all`, manyWebhooks, true],
  ] as const
  for (const [name, webhooks, isShared] of streams) {
    await bench.call('setUp', { webhooks, path: '/' })
    const bareBefore = await measureBare(bench, webhooks, 40_000)
    await bench.call('stream', { webhooks, seconds: seconds / 5, isShared })
    await bench.arrivals()
    await bench.call('stream', { webhooks, seconds, isShared })
    const perSecond = toRate(await bench.arrivals())
    await settle(bench)
    const bare = (bareBefore + (await measureBare(bench, webhooks, 40_000))) / 2
    const ratio = (perSecond / bare).toFixed(2)
    results[name] = { perSecond: Math.round(perSecond), bare: Math.round(bare), ratio }
  }
  return results
}

function toRate({ count, firstMs, lastMs }: Arrivals): number {
  return (count / (lastMs - firstMs)) * 1000
}

async function settle(bench: Bench): Promise<void> {
  await setTimeout(500)
  while ((await bench.arrivals()).count > 0) await setTimeout(500)
}

/** The same stream with all alive, with one that hangs and with one that refuses, in turns. */
async function measureDead(bench: Bench, { turns, steadySeconds: seconds }: WebhooksScale) {
  const { port, refused } = bench.receivers
  const index = manyWebhooks - 1
  const places = {
    'all alive': `https://r${index}.hooks.test:${port}/timed`,
    'one hangs': `https://dead.hooks.test:${port}/hang`,
    'one refuses': `https://refuses.hooks.test:${refused}/`,
  }
  await bench.call('setUp', { webhooks: manyWebhooks, path: '/timed' })
  await measureOthers(bench, seconds)
  const rounds: Record<keyof typeof places, Latency[]> = { 'all alive': [], 'one hangs': [], 'one refuses': [] }
  for (let turn = 0; turn < turns; turn++) {
    // There and back, so that no place always comes after the same other.
    const order = Object.entries(places)
    for (const [name, url] of turn % 2 === 0 ? order : order.toReversed()) {
      await bench.call('aim', { index, url })
      rounds[name as keyof typeof places].push(await measureOthers(bench, seconds))
      await setTimeout(name === 'one hangs' ? deadlineMs : 200)
    }
  }
  return Object.fromEntries(
    Object.entries(rounds).map(([name, latencies]) => [name, toTurns(latencies, rounds['all alive'])]),
  )
}

interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
}

/** How long after their commit events arrive at all but the last webhook. */
async function measureOthers(bench: Bench, seconds: number): Promise<Latency> {
  await bench.arrivals()
  const committed = await bench.call('steady', { webhooks: manyWebhooks, perSecond: steadyPerSecond, seconds })
  const others = committed.filter(([, index]) => index < manyWebhooks - 1)
  const arrivedAt = new Map<number, number>()
  const endMs = performance.now() + patienceMs
  while (others.some(([number]) => !arrivedAt.has(number))) {
    if (performance.now() > endMs)
      throw new Error(`Of ${others.length} deliveries only ${arrivedAt.size} came in time.`)
    await setTimeout(pollMs)
    for (const [number, atMs] of (await bench.arrivals()).arrivals) arrivedAt.set(number, atMs)
  }
  const latencies = others.map(([number, , atMs]) => arrivedAt.get(number)! - atMs)
  return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) }
}

/** The medians over the turns, and of the ratios to the turn of the same round in which all were alive. */
function toTurns(latencies: readonly Latency[], alive: readonly Latency[]) {
  return {
    p50Ms: median(latencies.map(({ p50Ms }) => p50Ms)).toFixed(2),
    p99Ms: median(latencies.map(({ p99Ms }) => p99Ms)).toFixed(2),
    p99Ratio: median(latencies.map(({ p99Ms }, turn) => p99Ms / alive[turn]!.p99Ms)).toFixed(2),
    p99Turns: latencies.map(({ p99Ms }) => p99Ms.toFixed(1)).join(' '),
  }
}

/** Reads a second while a backlog drains and while it waits, in turns. */
async function measureReads(bench: Bench, corpusDir: string, { backlogRows: rows, turns }: WebhooksScale) {
  await bench.call('setUp', { webhooks: manyWebhooks, path: '/' })
  await bench.call('warm')
  const scripts = {
    'GET /skills/<name>': rotate(await readDetailPaths(bench)),
    'GET /skills?q=': rotate(readSearchPaths(corpusDir)),
  }
  const results: Record<string, object> = {}
  for (const [name, script] of Object.entries(scripts)) {
    await bench.call('fill', { rows, webhooks: manyWebhooks })
    await load(bench.url, script, { seconds: readSeconds })
    const pairs = []
    for (let turn = 0; turn < turns; turn++) pairs.push(await measureReadPair(bench, script))
    const { pending } = await bench.call('figures')
    results[name] = {
      without: Math.round(median(pairs.map(({ without }) => without.perSecond))),
      during: Math.round(median(pairs.map(({ during }) => during.perSecond))),
      ratio: median(pairs.map(({ without, during }) => during.perSecond / without.perSecond)).toFixed(2),
      p99Ms: median(pairs.map(({ without }) => without.p99Ms)).toFixed(1),
      p99DuringMs: median(pairs.map(({ during }) => during.p99Ms)).toFixed(1),
      deliveriesPerSecond: Math.round(median(pairs.map(({ delivered }) => delivered))),
      leftOver: pending,
    }
  }
  return results
}

async function measureReadPair(bench: Bench, script: string) {
  await bench.call('stop')
  const without = await load(bench.url, script, { seconds: readSeconds })
  await bench.call('start')
  await setTimeout(connectingMs)
  await bench.arrivals()
  const during = await load(bench.url, script, { seconds: readSeconds })
  const delivered = toRate(await bench.arrivals())
  return { without, during, delivered }
}

async function measureSlow(bench: Bench) {
  const results: Record<string, object> = {}
  for (const webhooks of [1, manyWebhooks]) {
    await bench.call('setUp', { webhooks, path: '/slow' })
    await bench.call('fill', { rows: slowRows, webhooks })
    await bench.call('start')
    await setTimeout(2000)
    await bench.arrivals()
    await setTimeout(slowSeconds * 1000)
    results[`${webhooks} webhooks`] = { perSecond: ((await bench.arrivals()).count / slowSeconds).toFixed(0) }
  }
  await bench.call('setUp', { webhooks: 0, path: '/' })
  return results
}
