import { Agent, request } from 'node:http'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { toPackets } from '../support/git-client.ts'

/** Parts of a response that are kept. */
const partsMax = 4
const agent = new Agent({ keepAlive: true, maxSockets: 200 })

/** The requests of a clone by git with version 2 of the protocol. */
export async function clone(repository: string, { depth }: { depth?: number } = {}): Promise<void> {
  await send(`${repository}/info/refs?service=git-upload-pack`)
  const refs = await send(`${repository}/git-upload-pack`, toPackets('command=ls-refs', '0001', 'symrefs', '0000'))
  const id = /([0-9a-f]{40}) HEAD/.exec(refs.toString('latin1'))![1]
  const deepen = depth === undefined ? [] : [`deepen ${depth}`]
  const fetching = toPackets(
    'command=fetch',
    '0001',
    'no-progress',
    'ofs-delta',
    ...deepen,
    `want ${id}`,
    'done',
    '0000',
  )
  const answer = await send(`${repository}/git-upload-pack`, fetching)
  if (!answer.includes('packfile')) throw new Error(`${repository} sent no pack: ${answer.toString('latin1', 0, 200)}`)
}

/** As many requests as a clone has, which ask for next to nothing. */
export async function ask(url: string): Promise<void> {
  for (let i = 0; i < 3; i++) await send(`${url}/healthz`)
}

/** Returns the first bytes of the response, and reads the others. */
function send(url: string, body?: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { 'git-protocol': 'version=2', ...(body && { 'content-length': body.length, ...bodyType }) }
    const sent = request(url, { agent, method: body ? 'POST' : 'GET', headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.length < partsMax && parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(parts))
        else reject(new Error(`${url} responded with ${response.statusCode}.`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const bodyType = { 'content-type': 'application/x-git-upload-pack-request' }

/** The memory of a process and its children in MiB: pages that several processes share count once in all. */
function readMemoryMib(pid: number): number {
  try {
    const kib = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1])
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return children.filter(Boolean).reduce((sum, child) => sum + readMemoryMib(Number(child)), kib / 1024)
  } catch {
    // The process has ended meanwhile.
    return 0
  }
}

const sampleMs = 50

/** The memory that a process and its children added at most while work ran, in MiB. Needs Linux. */
export async function measureAdded(pid: number, work: () => Promise<unknown>): Promise<number> {
  const base = readMemoryMib(pid)
  let peak = base
  const done = new AbortController()
  const sampling = (async () => {
    for (;;) {
      peak = Math.max(peak, readMemoryMib(pid))
      await setTimeout(sampleMs, undefined, { signal: done.signal })
    }
  })().catch(() => {})
  try {
    await work()
  } finally {
    done.abort()
    await sampling
  }
  return peak - base
}

const ticksPerSecond = 100

/** The processor time of a process and its ended children, in ms. Needs Linux. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / ticksPerSecond
}
