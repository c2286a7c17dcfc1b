import { connect } from 'node:net'
import { localApi, type Registry, type RegistryOptions, systemCaller } from '@skillstead/core'
import { localCall } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { listenNode, type ListeningNode } from '@skillstead/server'
import { onTestFinished } from 'vitest'
import { timed } from './phases.ts'
import { makePlace } from './places.ts'
import { openRegistry } from './open-registry.ts'
import { steady, type TestListenOptions } from './steady.ts'

/** A node on a real port, with one skill in its registry, and a key of the skill's owner. */
export interface Fixture {
  readonly node: ListeningNode
  readonly registry: Registry
  /** Of `alice`, an administrator on the Enterprise plan. */
  readonly key: string
  readonly api: RegistryApi
  /** Asks below `/api/v1`. */
  get(path: string, init?: RequestInit): Promise<Response>
  /** Asks as alice. */
  as(path: string, init?: RequestInit): Promise<Response>
  /** Makes a user and gives his key. */
  createUser(username: string, plan?: string): Promise<string>
}

export const skillMd = '---\nname: pdf\ndescription: Reads PDF files\n---\n# PDF\n\nReads them.\n'

type Opening = Pick<RegistryOptions, 'outgoing' | 'clock' | 'scanPolicy' | 'blobs'>

/** A node that ends with the test. */
export async function startNode(
  options?: TestListenOptions,
  change?: (registry: Registry) => Registry,
  opening?: Opening,
): Promise<Fixture> {
  const { close, ...fixture } = await openNode(options, change, opening)
  onTestFinished(close)
  return fixture
}

/** A node for the tests of a file, which must close it. */
export async function openNode(
  options: TestListenOptions = {},
  change?: (registry: Registry) => Registry,
  opening: Opening = {},
): Promise<Fixture & { close(): Promise<void> }> {
  const place = await timed('place', () => makePlace('SQLite'))
  const registry = await timed('open', () => openRegistry({ ...place.location, ...opening }))
  const key = await createUser(registry, 'alice', 'enterprise')
  const api = localApi(registry, await registry.getCaller('alice'))
  await api.publishSkill({ skillMd, version: '1.0.0' })
  const node = await timed('listen', () =>
    listenNode(change ? change(registry) : registry, { port: 0, ...steady, ...options }),
  )
  const close = async () => {
    await node.close()
    await registry.close()
    await place.remove()
  }
  const get = (path: string, init?: RequestInit) => fetch(`${node.url}/api/v1${path}`, { redirect: 'manual', ...init })
  return {
    close,
    node,
    registry,
    key,
    api,
    get,
    as: (path, init) => get(path, { ...init, headers: { authorization: `Bearer ${key}`, ...init?.headers } }),
    createUser: (username, plan = 'free') => createUser(registry, username, plan),
  }
}

async function createUser(registry: Registry, username: string, plan: string): Promise<string> {
  const { body } = await localCall(registry, 'createUser', { username, plan }, systemCaller)
  return (body as { key: string }).key
}

export function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** Sends text as it stands and reads until the other side closes; `~` is a line's end. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text.replaceAll('~', '\r\n')))
    socket.setEncoding('latin1')
    socket.on('data', (data) => (answer += data))
    socket.on('close', () => resolve(answer))
    socket.on('error', (error: NodeJS.ErrnoException) => (answer ? resolve(answer) : reject(error)))
  })
}

/** The fields that no answer may lack. */
export const everywhere = [
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
]
