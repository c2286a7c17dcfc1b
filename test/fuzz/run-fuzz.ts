import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Registry, RegistryOptions } from '@skillstead/core'
import { checkRegistry } from '@skillstead/maintenance'
import { createMirror, type Mirror, type MirrorOptions } from '@skillstead/mirror'
import type { Replacements } from '../../packages/mirror/src/upstream-fetch.ts'
import { createLogger, listenNode } from '@skillstead/server'
import { openRaw, type RawAnswer, type RawConnection } from '../support/raw-connection.ts'
import { createChance, type Chance } from './chance.ts'
import { createJudge } from './judge.ts'
import { readOperations, type Operation } from './operations.ts'
import { makePageRequest } from './pages.ts'
import { createPool, type Pool } from './pool.ts'
import { makeRequest, type FuzzRequest, type Temper } from './requests.ts'
import type { Source } from './valid.ts'
import { actors, makeWorld, type Actor, type World } from './world.ts'
import { openRegistry } from '../support/open-registry.ts'

export interface FuzzOptions {
  readonly location: Pick<RegistryOptions, 'path' | 'databaseUrl'>
  readonly seed: number
  /** Returns whether to continue after this many requests. */
  goesOn(requests: number): boolean
  /** Paths and hosts that no response may contain, in addition to the working directory. */
  readonly places: readonly string[]
  onProgress?(requests: number, findings: number): void
  /** Called immediately with each finding, because a run may be aborted. */
  onFinding?(finding: string): void
}

export interface FuzzReport {
  readonly requests: number
  /** Response counts by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** The violations, once per operation, each with a request that causes it. */
  readonly findings: readonly string[]
  /** The operations of the document that never succeeded. */
  readonly neverGood: readonly string[]
  /** The growth of the heap since request 500, in MiB. */
  readonly grownMiB: number
}

/** The allowed growth of the heap, in MiB. */
export const grownMiBMax = 200

/** Starts a node, sends valid, mutated and hostile requests one after the other, and judges each response. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const failures: unknown[] = []
  const registry = await openRegistry({
    ...options.location,
    scanPolicy: { caution: 'warn', dangerous: 'quarantine' },
    outgoing: { resolver: { lookup: notFound, txt: async () => [] } },
    secretKey: new Uint8Array(32),
    onError: (error) => void failures.push(error),
  })
  const mirror = options.seed % 2 === 1 ? createOfflineMirror(registry) : undefined
  const log: string[] = []
  const node = await listenNode(registry, {
    port: 0,
    rates: 'off',
    trustedProxies: ['127.0.0.0/8'],
    logger: createLogger({ write: (line: string) => void (line.includes('"err"') && log.push(line)) }),
  })
  const onRejection = (error: unknown) => void failures.push(error)
  process.on('unhandledRejection', onRejection)
  try {
    const run = new Run(options, await makeStart(registry, node))
    await run.sendAll(log)
    for (const error of failures) run.find('the process', String((error as Error).stack ?? error))
    for (const { name, ok, detail } of await checkRegistry(registry)) {
      if (!ok) run.find('the registry afterwards', `${name}: ${detail}`)
    }
    return run.report()
  } finally {
    process.off('unhandledRejection', onRejection)
    await node.close()
    await mirror?.close()
    await registry.close()
  }
}

/** A mirror whose upstreams never respond. With a mirror, requests for missing skills take another code path. */
function createOfflineMirror(registry: Registry): Mirror {
  const options: MirrorOptions & Replacements = { fetch: failFetch, sleep: async () => {}, onError: () => {} }
  return createMirror(registry, options)
}

interface Start {
  readonly pool: Pool
  readonly world: World
  readonly operations: readonly Operation[]
  readonly base: string
  readonly port: number
}

async function makeStart(registry: Registry, node: { url: string; port: number }): Promise<Start> {
  const pool = createPool()
  const world = await makeWorld(registry, pool)
  const document = await (await fetch(`${node.url}/openapi.json`)).json()
  const base = new URL((document as { servers: { url: string }[] }).servers[0]!.url, node.url).pathname
  return { pool, world, operations: readOperations(document), base, port: node.port }
}

class Run {
  readonly #options: FuzzOptions
  readonly #start: Start
  readonly #findings = new Map<string, string>()
  readonly #statuses: Record<string, number> = {}
  readonly #good = new Set<string>()
  #connection: RawConnection | undefined
  #requests = 0
  #heapBytes = 0

  constructor(options: FuzzOptions, start: Start) {
    this.#options = options
    this.#start = start
  }

  find(where: string, what: string, request?: FuzzRequest, answer?: RawAnswer): void {
    const key = `${where}: ${what.replaceAll(/\d+/g, 'n').slice(0, 90)}`
    if (this.#findings.has(key)) return
    const shown = answer ? `\n  ${answer.status} ${answer.body.toString().slice(0, 300)}` : ''
    const finding = `${where}: ${what}${request ? `\n  ${show(request)}` : ''}${shown}`
    this.#findings.set(key, finding)
    this.#options.onFinding?.(finding)
  }

  async sendAll(log: string[]): Promise<void> {
    const { seed, goesOn, places, onProgress } = this.#options
    const { world, operations } = this.#start
    const judge = createJudge(world, [process.cwd(), ...places])
    for (let i = 0; goesOn(i); i++) {
      // Each request has its own seed, so that a change to one request does not change the others.
      const chance = createChance(seed + i * 7919)
      const source = { chance, pool: this.#start.pool }
      // First run every operation twice, so that objects of each kind exist.
      const first = operations[Math.floor(i / 2)]
      const { request, actor } =
        first && i < operations.length * 2 ? this.#draftFirst(source, first) : this.#draft(source)
      const answer = await this.#exchange(request, actor, chance)
      if (!answer) continue
      for (const what of judge.judge(request, answer, actor)) this.find(nameOf(request), what, request, answer)
      for (const line of log.splice(0)) {
        const { code, err } = JSON.parse(line) as { code: string; err: { stack: string } }
        if (code === 'internal') this.find(nameOf(request), err.stack, request)
      }
      await this.#learn(request, answer, actor)
      if (i % 100 === 99) await world.repair()
      if (i === 500) this.#heapBytes = measureHeap()
      if (i % 1000 === 999) onProgress?.(i + 1, this.#findings.size)
    }
    this.#connection?.close()
  }

  report(): FuzzReport {
    const neverGood = this.#start.operations.map(({ id }) => id).filter((id) => !this.#good.has(id))
    return {
      requests: this.#requests,
      statuses: this.#statuses,
      findings: [...this.#findings.values()],
      neverGood,
      grownMiB: Math.round((measureHeap() - (this.#heapBytes || measureHeap())) / 1024 / 1024),
    }
  }

  #draftFirst(source: Source, operation: Operation): { request: FuzzRequest; actor: Actor } {
    const actor = operation.auth === 'admin' ? 'root' : 'alice'
    return { request: makeRequest(source, operation, 'valid', this.#start.base), actor }
  }

  #draft(source: Source): { request: FuzzRequest; actor: Actor } {
    const { chance } = source
    const temper = chance.pick<Temper>(['valid', 'valid', 'valid', 'mutated', 'mutated', 'hostile'])
    const operation = chance.pick(this.#start.operations)
    if (chance.hits(0.12)) return { request: makePageRequest(source, temper), actor: chance.pick(actors) }
    const request = makeRequest(source, operation, temper, this.#start.base)
    return { request, actor: chance.hits(0.7) ? this.#whoMay(operation, request, chance) : chance.pick(actors) }
  }

  /** Picks the actor that most likely has permission: an administrator, the owner, or the creator of the object. */
  #whoMay(operation: Operation, { path }: FuzzRequest, chance: Chance): Actor {
    if (operation.auth === 'admin') return 'root'
    if (operation.id === 'acceptTransfer') return path.name?.startsWith('alice/') ? 'bob' : 'alice'
    const { pool } = this.#start
    const named = new Set(Object.values(path).flatMap((value) => [value.split('/')[0], pool.makerOf(value)]))
    return actors.find((actor) => named.has(actor)) ?? chance.pick(actors)
  }

  /** Sends a request on the previous connection, or on a new one if that was closed. */
  async #exchange(request: FuzzRequest, actor: Actor, chance: Chance): Promise<RawAnswer | undefined> {
    this.#connection = this.#connection?.isOpen ? this.#connection : await openRaw(this.#start.port)
    const connection = this.#connection
    connection.send(toBytes(request, this.#start.world.keyOf(actor), chance))
    this.#requests += 1
    const answer = await connection.read(request.method)
    if (!answer) {
      this.find(nameOf(request), 'ends the connection without an answer', request)
      return undefined
    }
    this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1
    if (answer.headers.connection === 'close') {
      await connection.ended
      connection.close()
    } else if (connection.left.length > 0) {
      this.find(nameOf(request), `sends ${connection.left.length} bytes too many`, request)
      connection.close()
    }
    return answer
  }

  async #learn({ operation, method, path }: FuzzRequest, answer: RawAnswer, actor: Actor): Promise<void> {
    if (!operation || method !== operation.method || answer.status >= 300) return
    this.#good.add(operation.id)
    const { pool, world } = this.#start
    if (operation.path.endsWith('}') && method === 'DELETE') pool.drop(Object.values(path).at(-1)!)
    if (!answer.headers['content-type']?.startsWith('application/json')) return
    const value = JSON.parse(answer.body.toString()) as Record<string, unknown>
    pool.learn(operation.path, value, method === 'POST' ? actor : undefined)
    for (const field of ['key', 'agentToken', 'caseToken', 'token']) {
      const secret = value[field]
      if (typeof secret === 'string' && /^s\w\w_/.test(secret) && world.secrets.size < 400) world.secrets.add(secret)
    }
    if (operation.id === 'releaseQuarantined') await world.repair()
  }
}

function toBytes({ method, target, headers, body }: FuzzRequest, key: string | undefined, chance: Chance): Buffer {
  const own: (readonly [string, string])[] = [['Host', 'fuzz.example']]
  // Each request has another client address, so that limits per address do not block the rest of the run.
  if (!headers.some(([name]) => name === 'X-Forwarded-For')) own.push(['X-Forwarded-For', toAddress(chance)])
  if (key !== undefined && !headers.some(([name]) => name === 'Authorization'))
    own.push(['Authorization', `Bearer ${key}`])
  const isChunked = body !== undefined && chance.hits(0.2)
  if (isChunked) own.push(['Transfer-Encoding', 'chunked'])
  else if (body !== undefined) own.push(['Content-Length', String(body.length)])
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (!isChunked) return body ? Buffer.concat([head, body]) : head
  const chunk = body.length > 0 ? [Buffer.from(`${body.length.toString(16)};x=y\r\n`), body, Buffer.from('\r\n')] : []
  return Buffer.concat([head, ...chunk, Buffer.from('0\r\n\r\n')])
}

function toAddress(chance: Chance): string {
  return `203.${chance.below(250)}.${chance.below(250)}.${chance.below(250)}`
}

function nameOf({ operation, target }: FuzzRequest): string {
  return operation?.id ?? target.split('?')[0]!.slice(0, 60)
}

function show({ method, target, headers, body }: FuzzRequest): string {
  const fields = headers.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(' | ')
  return `${method} ${target.slice(0, 300)} ${fields} ${body?.toString().slice(0, 600) ?? ''}`
}

async function failFetch(): Promise<never> {
  throw new TypeError('fetch failed')
}

async function notFound(): Promise<never> {
  throw Object.assign(new Error('There is no such host.'), { code: 'ENOTFOUND' })
}

function measureHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
