import { RegistryError } from '@skillstead/protocol'
import { createNodeSource } from './log/node-source.ts'
import { syncLog } from './log/sync-log.ts'
import type { Run } from './run.ts'
import type { LogSource, Upstream, UpstreamKind } from './types.ts'

/** How upstreams of a kind are synced. */
interface Engine {
  /** Whether it needs a network, so that there is none of it in offline mode. */
  readonly asksNetwork: boolean | ((location: string) => boolean)
  sync(run: Run): Promise<void>
}

const snapshot = async (run: Run): Promise<void> => {
  const { syncSnapshot } = await import('./snapshot/sync-snapshot.ts')
  await syncSnapshot(run)
}

/** One engine for what has a log, and one for what has none. */
export const engines: Readonly<Record<UpstreamKind, Engine>> = {
  node: { asksNetwork: true, sync: syncNode },
  registry: { asksNetwork: true, sync: snapshot },
  discovery: { asksNetwork: true, sync: snapshot },
  git: { asksNetwork: (location) => !location.startsWith('/'), sync: snapshot },
  folder: { asksNetwork: false, sync: snapshot },
  bundle: { asksNetwork: false, sync: refuseBundle },
}

async function syncNode(run: Run): Promise<void> {
  await withNodeSource(run, (source) => syncLog(run, source))
  // What is private is in no log.
  const { syncPrivate } = await import('./snapshot/sync-private.ts')
  await syncPrivate(run)
}

/** Has a node's log read; throws `upstream_failed` where there is none. */
export async function withNodeSource<T>(run: Run, work: (source: LogSource) => Promise<T>): Promise<T> {
  const { parts, upstream, http, signal } = run
  const apiKey = parts.readCredential(upstream)
  const source = createNodeSource({ baseUrl: upstream.location, http, apiKey, signal })
  try {
    return await work(source)
  } catch (error) {
    throw explain(error, upstream.location)
  }
}

/** Whether syncing it opens sockets. */
export function asksNetwork({ kind, location }: Pick<Upstream, 'kind' | 'location'>): boolean {
  const { asksNetwork: asks } = engines[kind]
  return typeof asks === 'function' ? asks(location) : asks
}

/** A registry that has no feed is one of another kind. */
function explain(error: unknown, location: string): unknown {
  if (!(error instanceof RegistryError) || (error.code !== 'not_found' && error.code !== 'method_not_allowed'))
    return error
  const detail = `${location} has no feed. A registry that speaks only the specification is added with --kind registry, a discovery index with --kind discovery.`
  return new RegistryError('upstream_failed', detail, { cause: error })
}

async function refuseBundle({ upstream }: Run): Promise<void> {
  const detail = `'${upstream.name}' comes in bundles; bring in the next one with \`skillstead bundle import FILE --name ${upstream.name}\`.`
  throw new RegistryError('invalid_request', detail)
}
