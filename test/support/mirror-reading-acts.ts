import { Socket } from 'node:net'
import { RegistryError } from '@skillstead/protocol'
import { onTestFinished } from 'vitest'
import type { AddOptions, MirrorOptions } from '@skillstead/mirror'
import type { Open, TestRegistry } from './harness.ts'
import { openMirror, openUpstream } from './mirror-harness.ts'
import { openNetwork, type Network } from './network.ts'

/** A network in front of an address, closed when the test ends. */
export async function openWay(target: string): Promise<Network> {
  const network = await openNetwork(target)
  onTestFinished(() => network.close())
  return network
}

/** A mirror that follows a node as `main`, over a network that counts. Nothing was read yet. */
export async function openPair(open: Open, add: AddOptions = {}, options: MirrorOptions = {}) {
  const upstream = await openUpstream(open)
  const network = await openWay(upstream.url)
  const { mirror, test, errors, alarms } = await openMirror(open, options)
  await mirror.add('main', network.url, { mode: 'pull-through', ...add })
  return { upstream, network, mirror, test, errors, alarms }
}

/** What the upstream is asked for, without the address of the API. */
export function takePaths(network: Network): string[] {
  const paths = network.requests.map((request) => request.replace('/api/v1', ''))
  ;(network.requests as string[]).length = 0
  return paths
}

/** What a call about a skill says: `ok`, or the code of its error. It is made once, whatever a client would do. */
export async function readCode(test: TestRegistry, name: string, query: Record<string, string> = {}): Promise<string> {
  if (test.transport === 'HTTP') {
    const answer = await test.request(`/api/v1/skills/${encodeURIComponent(name)}?${new URLSearchParams(query)}`)
    return answer.ok ? 'ok' : ((await answer.json()) as { code: string }).code
  }
  try {
    await test.api().getSkill({ name, ...query })
    return 'ok'
  } catch (error) {
    if (error instanceof RegistryError) return error.code
    throw error
  }
}

/** The two fields about freshness, of a node on a port. */
export async function readFreshness(url: string, path: string, init?: RequestInit) {
  const { status, headers } = await fetch(`${url}/api/v1${path}`, init)
  return { status, age: headers.get('age'), stale: headers.get('x-skillstead-stale') }
}

/** What every socket that is opened from now on was told to connect to, until the test ends; not those to the database. */
export function watchSockets({ location }: Pick<TestRegistry, 'location'>): string[] {
  const opened: string[] = []
  const { databaseUrl } = location
  const database = databaseUrl === undefined ? undefined : new URL(databaseUrl)
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (this: Socket, ...options: unknown[]): Socket {
    const told = JSON.stringify(options)
    if (!database || !(told.includes(database.port) || told.includes('.s.PGSQL'))) opened.push(told)
    return Reflect.apply(connect, this, options) as Socket
  }
  onTestFinished(() => void (Socket.prototype.connect = connect))
  return opened
}
