import { localApi, systemCaller, type Registry, type RegistryOptions } from '@skillstead/core'
import { createMirror, type Alarm, type Mirror, type MirrorOptions } from '@skillstead/mirror'
import type { RegistryApi } from '@skillstead/protocol'
import { listenNode } from '@skillstead/server'
import { onTestFinished } from 'vitest'
import { createClock, describeDatabases, type TestClock } from './harness.ts'
import { publishVersions } from './mirror-state.ts'
import { makePlace, type DialectName, type Location } from './places.ts'
import { openRegistry } from './open-registry.ts'
import { steady } from './steady.ts'

/** A mirror with a clock that only the test moves. */
export interface TestMirror {
  readonly registry: Registry
  readonly mirror: Mirror
  readonly clock: TestClock
  /** As a guest. */
  readonly api: RegistryApi
  readonly alarms: readonly Alarm[]
  /** Makes a user, and gives what he may call. */
  user(name: string): Promise<RegistryApi>
}

/** An upstream node. */
export interface TestUpstream {
  readonly url: string
  readonly registry: Registry
  /** As `alice`, who owns what it publishes. */
  readonly alice: RegistryApi
}

/** A node with so many skills of one to three versions, on a real port. */
export async function openUpstream(skills: number, clock: TestClock): Promise<TestUpstream> {
  const location = await openPlace('SQLite')
  const registry = await openRegistry({ ...location, origin: 'upstream.example', works: false, clock })
  await localApi(registry, systemCaller).createUser({ username: 'alice' })
  const alice = localApi(registry, await registry.getCaller('alice'))
  for (let i = 0; i < skills; i += 1) await publishVersions(alice, `skill-${i}`, (i % 3) + 1)
  const node = await listenNode(registry, { port: 0, ...steady })
  onTestFinished(async () => {
    await node.close()
    await registry.close()
  })
  return { url: node.url, registry, alice }
}

interface OpenOptions extends Partial<Omit<RegistryOptions, 'clock'>> {
  readonly clock?: TestClock
  readonly mirror?: MirrorOptions
}

export type OpenTestMirror = (options?: OpenOptions) => Promise<TestMirror>

/** Runs a suite about mirrors on SQLite and on PostgreSQL. */
export function describeMirrors(name: string, define: (open: OpenTestMirror) => void): void {
  describeDatabases(name, (_, dialect) => {
    if (dialect === 'SQLite') return define(openTestMirror)
    return define(async (options) => openTestMirror({ ...(await openPlace(dialect)), ...options }))
  })
}

/** A database that is removed when the test ends, after what is opened on it later is closed. */
async function openPlace(dialect: DialectName): Promise<Location> {
  const { location, remove } = await makePlace(dialect)
  onTestFinished(remove)
  return location
}

/** Opens a mirror. Default: an SQLite file of its own. It is closed when the test ends. */
export async function openTestMirror(options: OpenOptions = {}): Promise<TestMirror> {
  const { clock = createClock(), mirror: mirrorOptions, ...rest } = options
  const place = rest.databaseUrl === undefined && rest.path === undefined ? await openPlace('SQLite') : {}
  const registry = await openRegistry({ origin: 'mirror.example', works: false, ...place, ...rest, clock })
  const alarms: Alarm[] = []
  const mirror = createMirror(registry, { onAlarm: (_, alarm) => void alarms.push(alarm), ...mirrorOptions })
  onTestFinished(async () => {
    await mirror.close()
    await registry.close()
  })
  return {
    registry,
    mirror,
    clock,
    alarms,
    api: localApi(registry),
    async user(name) {
      await localApi(registry, systemCaller).createUser({ username: name })
      return localApi(registry, await registry.getCaller(name))
    },
  }
}
