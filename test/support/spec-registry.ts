import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { openStandIn, type StandIn } from './stand-in.ts'

/** A skill of a registry that has only the base API. */
interface SpecSkill {
  readonly owner: string
  readonly name: string
  version: string
  /** Milliseconds since 1970. */
  publishedAt: number
  text: string
  deprecated: boolean
  /** Shown to its owner's key alone. */
  isPrivate: boolean
}

export interface SpecRegistry extends StandIn {
  /** What it lists; tests change it. */
  readonly skills: SpecSkill[]
  put(owner: string, name: string, more?: Partial<SpecSkill>): SpecSkill
  /** Paths and queries that were asked for since the last call. */
  takeRequests(): string[]
  /** Requests a minute; counted by the clock that was given. */
  rate: number
}

const base = '/api/v1'
const pageSize = 100

/**
 * Written by hand after docs/api.md: lists by pages, details, SKILL.md and the user, under short names, with the two
 * rate headers and ETags. The key `key-of-NAME` is the one of NAME.
 */
export async function openSpecRegistry(now: () => number): Promise<SpecRegistry> {
  const skills: SpecSkill[] = []
  const window = { startedAt: 0, count: 0 }
  const standIn = await openStandIn((request, response) => answer(request, response))
  let taken = 0

  const registry: SpecRegistry = Object.assign(standIn, {
    skills,
    rate: 1_000_000,
    put(owner: string, name: string, more: Partial<SpecSkill> = {}) {
      const text = `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\nDoes it.\n`
      const skill = {
        owner,
        name,
        version: '1.0.0',
        publishedAt: now(),
        text,
        deprecated: false,
        isPrivate: false,
        ...more,
      }
      skills.push(skill)
      return skill
    },
    takeRequests() {
      const paths = standIn.requests.slice(taken).map(({ path }) => path.slice(base.length))
      taken = standIn.requests.length
      return paths
    },
  })
  return registry

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (now() - window.startedAt >= 60_000) Object.assign(window, { startedAt: now(), count: 0 })
    window.count += 1
    response.setHeader('x-ratelimit-remaining', Math.max(0, registry.rate - window.count))
    response.setHeader('x-ratelimit-reset', Math.ceil((window.startedAt + 60_000) / 1000))
    response.setHeader('date', new Date(now()).toUTCString())
    if (window.count > registry.rate) return sendJson(429, { error: 'slow down' })(request, response)
    const url = new URL(request.url!, standIn.url)
    const user = /^Bearer key-of-(.*)$/.exec(request.headers.authorization ?? '')?.[1]
    const seen = skills.filter(({ isPrivate, owner }) => !isPrivate || owner === user)
    const [, what = '', name = '', part] = url.pathname.slice(base.length).split('/')
    if (what === 'users') return sendJson(user ? 200 : 401, { username: user })(request, response)
    if (what === 'skills' && name === '') return sendJson(200, toPage(seen, url))(request, response)
    const skill = seen.find((one) => one.name === decodeURIComponent(name))
    if (what !== 'skills' || !skill) return sendJson(404, { error: 'nothing here' })(request, response)
    if (part === undefined)
      return sendJson(200, { ...toItem(skill), repository: 'https://example.com/r' })(request, response)
    response.writeHead(200, { 'content-type': 'text/plain' }).end(skill.text)
  }
}

function toPage(skills: readonly SpecSkill[], { searchParams }: URL) {
  const page = Number(searchParams.get('page') ?? 1)
  const limit = Math.min(pageSize, Number(searchParams.get('limit') ?? 20))
  const sorted = skills.toSorted((a, b) => b.publishedAt - a.publishedAt || (a.name < b.name ? -1 : 1))
  return {
    skills: sorted.slice((page - 1) * limit, page * limit).map(toItem),
    total: skills.length,
    page,
    totalPages: Math.ceil(skills.length / limit),
    filters: { q: '', includeStubs: false },
  }
}

function toItem({ owner, name, version, publishedAt, deprecated }: SpecSkill) {
  return {
    id: toId(`${owner}/${name}`),
    name,
    fullName: `${owner}/${name}`,
    description: `Does ${name}`,
    latestVersion: version,
    downloads: 3,
    stars: 1,
    securityScore: null,
    verified: false,
    deprecated,
    category: 'tools',
    license: 'MIT',
    author: { id: toId(owner), username: owner, avatarUrl: '' },
    publishedAt: new Date(publishedAt).toISOString(),
  }
}

function sendJson(status: number, body: unknown): RequestListener {
  return (request, response) => {
    const text = JSON.stringify(body)
    const etag = `"${toHash(text).slice(0, 16)}"`
    if (status === 200 && request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    response.writeHead(status, { 'content-type': 'application/json', etag }).end(text)
  }
}

function toId(text: string): string {
  return toHash(text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

function toHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
