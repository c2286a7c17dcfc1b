import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { verifyCheckpoint } from '@skillstead/client/verify'
import { toDigest } from '@skillstead/skill-format/archives'
import { skillMd } from '../support/answers.ts'
import { balancerHeader } from './cluster-nodes.ts'

export interface LoadOptions {
  /** The URL of the load balancer. */
  readonly url: string
  /** API keys of the publisher, and of the users who star skills. */
  readonly publisher: string
  readonly fans: readonly string[]
  /** The verifier keys of the log. */
  readonly verifierKeys: readonly string[]
  /** Digests of files that the bucket lost. */
  readonly lost: ReadonlySet<string>
}

/** The recorded responses, and the violations among them. */
export interface Told {
  /** Acknowledged versions by skill name. */
  readonly published: Map<string, { version: string }>
  /** Digests of the large files of acknowledged versions, by skill name. */
  readonly files: Map<string, string>
  /** Acknowledged stars, as `fan name`. */
  readonly stars: Set<string>
  /** Acknowledged and sent installs by skill name. */
  readonly installs: Map<string, { answered: number; sent: number }>
  /** Root hashes of the log by tree size. */
  readonly roots: Map<number, string>
  /** Response counts by status; `none` for requests without a response. */
  readonly statuses: Map<string, number>
  readonly faults: string[]
}

const publishers = 4
const readers = 3
const pauseMs = 5
const patienceMs = 20_000
/** The most attempts with the same Idempotency-Key. */
const triesMax = 4
/** One of this many versions has a large file. */
const largeEvery = 4
/** Files of this size go to the bucket. */
const largeBytes = 20_000

/** Publishes, stars, installs, reads, searches and fetches checkpoints until the load is stopped. */
export function startLoad({ url, publisher, fans, verifierKeys, lost }: LoadOptions) {
  const told: Told = {
    published: new Map(),
    files: new Map(),
    stars: new Set(),
    installs: new Map(),
    roots: new Map(),
    statuses: new Map(),
    faults: [],
  }
  let isOn = true

  /** Returns undefined if no complete response of a node arrived. */
  async function send(path: string, init: RequestInit = {}, isExcused = () => false): Promise<Response | undefined> {
    const method = init.method ?? 'GET'
    let answer: Response
    try {
      answer = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(patienceMs) })
      // An interrupted response counts as none.
      answer = new Response(await answer.bytes(), { status: answer.status, headers: answer.headers })
    } catch {
      return void note('none')
    }
    if (answer.headers.has(balancerHeader)) return void note('none')
    note(`${method} ${answer.status}`)
    const isUnavailable = answer.status === 503 && answer.headers.has('retry-after')
    const isFault = answer.status >= 500 && !isUnavailable && !isExcused()
    if (isFault) told.faults.push(`${method} ${path} was answered ${answer.status}: ${await answer.clone().text()}`)
    return answer
  }

  function note(status: string): void {
    told.statuses.set(status, (told.statuses.get(status) ?? 0) + 1)
  }

  async function publish(worker: number): Promise<void> {
    for (let count = 0; isOn; count++, await setTimeout(pauseMs)) {
      const [name, version] = [`w${worker}-${count}`, '1.0.0']
      const large = count % largeEvery === 0 ? randomBytes(largeBytes) : undefined
      const body = JSON.stringify({
        skillMd: skillMd(name, { version, body: `${randomUUID()} by ${worker}` }),
        category: name,
        ...(large && { files: [toFile(large)] }),
      })
      const headers = { ...toHeaders(publisher), 'idempotency-key': randomUUID() }
      for (let tries = 0; isOn && tries < triesMax; tries++, await setTimeout(20 * pauseMs)) {
        const answer = await send('/api/v1/skills', { method: 'PUT', headers, body })
        if (!answer || answer.status >= 500) continue
        if (answer.status === 201) {
          told.published.set(name, { version })
          if (large) told.files.set(name, toDigest(large))
          await findCategory(name)
        }
        // The first attempt may be stored although its response was lost; its key is locked while it could still run.
        else if (tries === 0 || answer.status !== 409)
          told.faults.push(`${name} was answered ${answer.status}: ${await answer.text()}`)
        break
      }
    }
  }

  /** Each skill has a category of its own, which a replica must not hide after the publish was acknowledged. */
  async function findCategory(name: string): Promise<void> {
    const answer = await mustBe(200, '/api/v1/categories')
    if (answer?.status !== 200 || (await answer.text()).includes(`"${name}"`)) return
    told.faults.push(`The category of ${name} is not listed after its publish.`)
  }

  async function use(worker: number): Promise<void> {
    for (let count = 0; isOn; count++, await setTimeout(pauseMs)) {
      const name = [...told.published.keys()].at(-1 - ((count * 7 + worker) % 25))
      if (name === undefined) continue
      const page = `/api/v1/skills/publisher%2F${name}`
      await mustBe(200, page)
      await mustBe(200, `/api/v1/skills?q=${name.split('-')[0]}`)
      await readLarge(name)
      const fan = (count + worker) % fans.length
      if ((await send(`${page}/star`, { method: 'PUT', headers: toHeaders(fans[fan]!) }))?.status === 200)
        told.stars.add(`fan-${fan} ${name}`)
      await install(name)
      const installed = [{ skillName: `publisher/${name}`, version: '1.0.0' }]
      await mustBe(200, '/api/v1/heartbeat', { method: 'POST', ...json({ installedSkills: installed }) })
    }
  }

  async function readLarge(name: string): Promise<void> {
    const digest = told.files.get(name)
    if (digest === undefined) return
    const answer = await send(toFilePath(name), {}, () => lost.has(digest))
    if (answer?.status === 200 && toDigest(await answer.bytes()) !== digest)
      told.faults.push(`The file of ${name} has other bytes.`)
  }

  async function install(name: string): Promise<void> {
    const counts = told.installs.get(name) ?? { answered: 0, sent: 0 }
    told.installs.set(name, counts)
    counts.sent += 1
    const answer = await send('/api/v1/track', { method: 'POST', ...json({ skillName: `publisher/${name}` }) })
    if (answer?.status === 202) counts.answered += 1
  }

  async function watchLog(): Promise<void> {
    for (let last = 0; isOn; await setTimeout(4 * pauseMs)) {
      const answer = await mustBe(200, '/api/v1/checkpoint')
      if (answer?.status !== 200) continue
      const { treeSize, rootHash } = verifyCheckpoint(await answer.text(), verifierKeys)
      if (treeSize < last) told.faults.push(`The log shrank from ${last} to ${treeSize} entries.`)
      const known = told.roots.get(treeSize) ?? rootHash
      if (known !== rootHash) told.faults.push(`The log of ${treeSize} entries has two roots.`)
      told.roots.set(treeSize, known)
      last = treeSize
    }
  }

  /** Also accepts 503 while the database is down. */
  async function mustBe(status: number, path: string, init?: RequestInit): Promise<Response | undefined> {
    const answer = await send(path, init)
    if (answer && answer.status !== status && answer.status < 500)
      told.faults.push(`${init?.method ?? 'GET'} ${path} was answered ${answer.status}: ${await answer.clone().text()}`)
    return answer
  }

  const running = Promise.all([
    ...Array.from({ length: publishers }, (_, i) => publish(i)),
    ...Array.from({ length: readers }, (_, i) => use(i)),
    watchLog(),
  ])
  return {
    told,
    async stop(): Promise<Told> {
      isOn = false
      await running
      return told
    },
  }
}

function toFile(bytes: Buffer) {
  return { path: 'large.bin', content: bytes.toString('base64'), encoding: 'base64' }
}

/** The path of the large file of a skill. */
export function toFilePath(name: string): string {
  return `/api/v1/skills/publisher%2F${name}/files/large.bin`
}

function json(body: unknown): RequestInit {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function toHeaders(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
}
