import { localApi, systemCaller, type Clock, type Registry, type RegistryOptions } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { EndpointName, Input, PlanName, RegistryApi, endpoints } from '@skillstead/protocol'
import { afterAll, describe, inject } from 'vitest'
import { isLong, isWhole } from './long.ts'
import { timed } from './phases.ts'
import { makePlace, type DialectName, type Location, type Place } from './places.ts'
import { checked, openHttp, openInProcess, type Tokens } from './ways-in.ts'
import { openRegistry } from './open-registry.ts'

type Transport = 'in-process' | 'HTTP'
/** A clock that only the test moves. */
export interface TestClock extends Clock {
  set(epochMs: number): void
  advance(ms: number): void
}

/** A signed-in user of a test. */
export interface TestUser {
  readonly username: string
  /** The API key in use. */
  readonly key: string
  readonly api: RegistryApi
}

/** An open registry with one way in. */
export interface TestRegistry {
  readonly registry: Registry
  readonly clock: TestClock
  readonly transport: Transport
  readonly dialect: DialectName
  readonly location: Location
  /** An administrator, there from the start unless the registry was opened empty. */
  readonly admin: TestUser
  /** The interface as a guest, or as a user that was made. */
  api(username?: string): RegistryApi
  /** The interface with any key, also one that is not valid. */
  apiWithKey(key: string): RegistryApi
  /** The interface with an agent's or a case's token, as a guest or as a user. */
  apiWith(tokens: Tokens, user?: TestUser): RegistryApi
  /** A user of this name, or of a name that no other test has. */
  makeUser(username?: string, options?: { plan?: PlanName; role?: 'user' | 'admin' }): Promise<TestUser>
  /** The status that a call answers. */
  statusOf<K extends EndpointName>(
    user: TestUser | undefined,
    name: K,
    input: Input<(typeof endpoints)[K]>,
  ): Promise<number>
  /** A raw request below the root of the node; over HTTP alone. */
  request(path: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

interface OpenOptions extends Omit<RegistryOptions, 'path' | 'databaseUrl' | 'clock'> {
  /** A database that another test registry has open; a fresh one where it is not said. */
  readonly at?: Location
  /** Default: the database of the suite. */
  readonly dialect?: DialectName
  readonly clock?: TestClock
  /** Without the administrator. */
  readonly empty?: boolean
}

export type Open = (options?: OpenOptions) => Promise<TestRegistry>

/** The 2nd of January 2026, noon. */
export const startMs = Date.UTC(2026, 0, 2, 12)

interface Variant {
  readonly transport: Transport
  readonly dialect: DialectName
}

const dialects: readonly DialectName[] = ['SQLite', 'PostgreSQL']
const allVariants: readonly Variant[] = dialects.flatMap((dialect) =>
  (['in-process', 'HTTP'] as const).map((transport) => ({ transport, dialect })),
)
type DefineApi = (open: Open, variant: Variant) => void

/**
 * Runs a suite about the interface over HTTP on one of the databases, which its name decides; `test:long` runs the other
 * three variants, and a sample of it those of some suites.
 *
 * That is enough for a rule of the registry: operations do not know their transport, and the transport does not know the
 * database. What depends on the database takes {@link describeDatabases}; what depends on both together takes
 * {@link describeMatrix}: bodies that are streamed out of the database, and concurrent calls. What the opened registries
 * hold is removed after the suite.
 */
export function describeApi(name: string, define: DefineApi): void {
  const chosen = chooseDialect(name)
  const isChosen = ({ transport, dialect }: Variant) => transport === 'HTTP' && dialect === chosen
  const variants = allVariants.filter((variant) => isLong !== isChosen(variant) || isWhole)
  describeVariants(variants, name, define)
}

/**
 * Runs a suite in-process on one of the databases, which its name decides, and over HTTP on the other; `test:long` runs
 * the other two variants. See {@link describeApi} for when.
 */
export function describeMatrix(name: string, define: DefineApi): void {
  const chosen = chooseDialect(name)
  const isChosen = ({ transport, dialect }: Variant) => (transport === 'in-process') === (dialect === chosen)
  const variants = allVariants.filter((variant) => isLong !== isChosen(variant) || isWhole)
  describeVariants(variants, name, define)
}

function describeVariants(variants: readonly Variant[], name: string, define: DefineApi): void {
  for (const variant of variants) {
    const { transport, dialect } = variant
    describeOn(dialect, `${name} (${transport}, ${dialect})`, transport, (open) => define(open, variant))
  }
}

/** Runs a suite in-process on both databases: for what lies below the interface. */
export function describeDatabases(name: string, define: (open: Open, dialect: DialectName) => void): void {
  for (const dialect of dialects) {
    describeOn(dialect, `${name} (${dialect})`, 'in-process', (open) => define(open, dialect))
  }
}

/**
 * Runs a suite in-process on one of the databases, which its name decides, and `test:long` on the other: for what reads
 * and writes only through functions that other suites run on both, such as the formats that upstreams send.
 */
export function describeInTurn(name: string, define: (open: Open, dialect: DialectName) => void): void {
  const chosen = chooseDialect(name)
  for (const dialect of dialects.filter((one) => isWhole || (one === chosen) !== isLong)) {
    describeOn(dialect, `${name} (${dialect})`, 'in-process', (open) => define(open, dialect))
  }
}

/**
 * What a run of {@link describeDatabases} has on one of them: every second item, and `test:long` the other half. For what
 * takes long, and differs little from its neighbours.
 */
export function listInTurn<T>(items: readonly T[], dialect: DialectName): readonly T[] {
  if (isWhole || inject('postgresUrl') === null) return items
  const own = dialects.indexOf(dialect)
  return items.filter((_, i) => (i % dialects.length === own) !== isLong)
}

/** The same for each run, so that a failure can be repeated. */
function chooseDialect(name: string): DialectName {
  return inject('postgresUrl') === null ? 'SQLite' : dialects[name.length % dialects.length]!
}

function describeOn(dialect: DialectName, name: string, transport: Transport, define: (open: Open) => void): void {
  const isMissing = dialect === 'PostgreSQL' && inject('postgresUrl') === null
  const title = isMissing ? `${name}: skipped, for PostgreSQL could not be started` : name
  describe.skipIf(isMissing)(`${title}`, () => {
    const opened: TestRegistry[] = []
    afterAll(async () => {
      for (const test of opened.toReversed()) await test.close()
    })
    define(async (options = {}) => {
      const test = await openTestRegistry(transport, dialect, options)
      opened.push(test)
      return test
    })
  })
}

async function openTestRegistry(
  transport: Transport,
  suiteDialect: DialectName,
  { at, empty, dialect = suiteDialect, clock = createClock(), ...options }: OpenOptions,
): Promise<TestRegistry> {
  const place: Place = at ? { location: at, remove: async () => {} } : await timed('place', () => makePlace(dialect))
  const registry = await timed('open', () => openRegistry({ onError: failAloud, ...options, ...place.location, clock }))
  await partsOf(registry).search.warmed
  const way = transport === 'HTTP' ? await timed('listen', () => openHttp(registry)) : openInProcess(registry)
  const users = new Map<string, TestUser>()
  let closed: Promise<void> | undefined

  function toUser(username: string, key: string): TestUser {
    const user = { username, key, api: way.api(key) }
    users.set(username, user)
    return user
  }

  const system = checked(localApi(registry, systemCaller))
  const first = empty || at ? undefined : await system.createUser({ username: 'root' })
  if (first) toUser('root', first.key)

  return {
    registry,
    clock,
    transport,
    dialect,
    location: place.location,
    get admin() {
      return getUser('root')
    },
    api: (username) => (username === undefined ? way.api(undefined) : getUser(username).api),
    apiWithKey: (key) => way.api(key),
    apiWith: (tokens, user) => way.api(user?.key, tokens),
    async makeUser(username = `user-${users.size + 1}`, { plan, role } = {}) {
      const { key } = await system.createUser({ username, plan, role })
      return toUser(username, key)
    },
    statusOf: (user, name, input) => way.statusOf(user?.key, name, input as Record<string, unknown>),
    request: (path, init) => way.request(path, init),
    close: () => (closed ??= close()),
  }

  function getUser(username: string): TestUser {
    const user = users.get(username)
    if (!user) throw new TypeError(`The test made no user '${username}'.`)
    return user
  }

  async function close(): Promise<void> {
    await way.close()
    await registry.close()
    await place.remove()
  }
}

export function createClock(now = startMs): TestClock {
  let epochMs = now
  const timers = new Map<() => void, number>()

  function set(ms: number): void {
    epochMs = ms
    for (const [fire, at] of [...timers].toSorted((a, b) => a[1] - b[1])) if (at <= ms) fire()
  }

  return {
    now: () => epochMs,
    setTimer(ms, callback) {
      const fire = () => {
        if (timers.delete(fire)) callback()
      }
      timers.set(fire, epochMs + ms)
      // What is due already comes as soon as it would by a real clock.
      if (ms <= 0) setTimeout(fire)
      return () => void timers.delete(fire)
    },
    set,
    advance: (ms) => set(epochMs + ms),
  }
}

/** No caller is there to hear of these errors, so a test must. */
function failAloud(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
