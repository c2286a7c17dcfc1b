import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toContentDigest } from '@skillstead/client/verify'
import { onTestFinished } from 'vitest'
import { skillMd } from './answers.ts'
import { toCanonical } from './canonical.ts'
import { naiveRoot } from './naive-tree.ts'
import { createNoteSigner, type NoteSigner } from './note-signer.ts'

type Fields = Record<string, unknown>

/** An entry of the log that a false node signs. */
export interface FalseEntry {
  seq: number
  type: string
  at: string
  subject: string
  digest: string | null
  data: Fields
}

export interface FalsePage {
  origin: string
  epoch: number
  entries: unknown[]
  next: number
  head: number
  checkpoint: string | null
}

/** A skill that a malicious node publishes. Fields without a value are as an honest node would set them. */
interface Publication {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly version?: string
  /** Over what the entry would hold. */
  readonly data?: Fields
  readonly entry?: Partial<FalseEntry>
  readonly skillId?: string
  readonly ownerId?: string
}

/** A malicious node with its own log and key. It serves, mostly signed, what a test defines. */
export interface FalseNode {
  readonly url: string
  origin: string
  epoch: number
  /** The signing keys. The node publishes the first one. */
  signers: NoteSigner[]
  /** The time of the clock of the node. */
  nowMs: number
  entries: FalseEntry[]
  readonly blobs: Map<string, Uint8Array>
  readonly requests: string[]
  /** Changes each page of the feed before it is sent. */
  page: (page: FalsePage, asked: { since: number; limit: number }) => unknown
  /** Handles a request instead of the node if it returns true. */
  instead: ((request: IncomingMessage, response: Parameters<RequestListener>[1]) => boolean) | undefined
  publish(fullName: string, publication?: Publication): FalseEntry
  append(entry: Omit<FalseEntry, 'seq' | 'at' | 'digest'> & Partial<FalseEntry>): FalseEntry
  /** The signed note of the tree of these entries, by default of all. */
  checkpoint(entries?: readonly FalseEntry[]): string
}

export async function openFalseNode(nowMs: number, origin = 'upstream.example'): Promise<FalseNode> {
  const server = createServer((request, response) => void answer(node, request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const ids = new Map<string, string>()
  const idOf = (what: string) => ids.get(what) ?? ids.set(what, randomUUID()).get(what)!
  const node: FalseNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    origin,
    epoch: 7,
    nowMs,
    entries: [],
    blobs: new Map(),
    requests: [],
    instead: undefined,
    signers: [createNoteSigner(origin)],
    page: (page) => page,
    publish(fullName, publication = {}) {
      const [owner, name] = fullName.split('/') as [string, string]
      const { version = '1.0.0', files = { 'SKILL.md': skillMd(name) } } = publication
      const listed = Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content) }))
      for (const { bytes } of listed) node.blobs.set(toDigest(bytes), bytes)
      const user = { id: publication.ownerId ?? idOf(owner), username: owner }
      const data = {
        skill: { id: publication.skillId ?? idOf(fullName), name, fullName },
        owner: user,
        holder: false,
        version,
        publishedAt: toTime(node.nowMs),
        publisher: user,
        size: listed.reduce((sum, { bytes }) => sum + bytes.length, 0),
        files: listed.map(({ path, bytes }) => ({ path, size: bytes.length, digest: toDigest(bytes) })),
        displayName: name,
        description: `What ${name} does.`,
        license: '',
        keywords: [],
        changelog: '',
        portable: true,
        yanked: false,
        category: '',
        repository: '',
        deprecated: false,
        deprecationMessage: '',
        forkedFrom: null,
        ...publication.data,
      }
      const digest = toContentDigest(listed)
      return node.append({ type: 'version', subject: `${fullName}@${version}`, digest, data, ...publication.entry })
    },
    append(entry) {
      const whole = { seq: node.entries.length + 1, at: toTime(node.nowMs), digest: null, ...entry }
      node.entries.push(whole)
      return whole
    },
    checkpoint(entries = node.entries) {
      const root = naiveRoot(entries.map((entry) => Buffer.from(toCanonical(entry)))).toString('base64')
      const keys = node.signers.length > 1 ? node.signers.map(({ vkey }) => `key ${vkey}\n`).join('') : ''
      const text = `${node.origin}\n${entries.length}\n${root}\n${keys}`
      const seconds = Math.floor(node.nowMs / 60_000) * 60
      const lines = [
        ...node.signers.map((one) => one.sign(text)),
        ...node.signers.map((one) => one.cosign(text, seconds)),
      ]
      return `${text}\n${lines.join('')}`
    },
  }
  return node
}

async function answer(node: FalseNode, request: IncomingMessage, response: Parameters<RequestListener>[1]) {
  const { pathname, searchParams } = new URL(request.url!, node.url)
  node.requests.push(`${request.method} ${request.url}`)
  const body = await readBody(request)
  if (node.instead?.(request, response)) return
  if (pathname === '/api/v1/key') return void response.end(node.signers.map(({ vkey }) => `${vkey}\n`).join(''))
  if (pathname === '/api/v1/feed') {
    const since = Number(searchParams.get('since') ?? 0)
    const limit = Number(searchParams.get('limit') ?? 100)
    const entries = node.entries.slice(since, since + limit)
    const { origin, epoch } = node
    const head = node.entries.length
    const page = { origin, epoch, entries, next: since + entries.length, head, checkpoint: node.checkpoint() }
    response.setHeader('content-type', 'application/json')
    return void response.end(JSON.stringify(node.page(page, { since, limit })))
  }
  if (pathname === '/api/v1/blobs/batch') {
    response.setHeader('content-type', 'application/x-ndjson')
    const { digests } = JSON.parse(body) as { digests: string[] }
    for (const digest of digests) response.write(`${JSON.stringify(toLine(digest, node.blobs.get(digest)))}\n`)
    return void response.end()
  }
  response.writeHead(404, { 'content-type': 'application/problem+json' })
  const type = 'urn:skillstead:problem:not_found'
  response.end(
    JSON.stringify({ type, title: 'Not found', status: 404, detail: 'No.', code: 'not_found', requestId: 'r' }),
  )
}

function toLine(digest: string, bytes: Uint8Array | undefined): object {
  return bytes
    ? { digest, size: bytes.length, content: Buffer.from(bytes).toString('base64') }
    : { digest, missing: true }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

/** As content is called. */
export function toDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
