import { RegistryError, isRegistryError } from '@skillstead/protocol'
import { createNodeSource } from './log/node-source.ts'
import { syncLog } from './log/sync-log.ts'
import type { Run } from './run.ts'
import type { LogSource, Upstream, UpstreamKind } from './types.ts'

/** How upstreams of one kind are synced. */
interface Engine {
  /** Whether the sync opens sockets, so that it is refused in offline mode. */
  readonly asksNetwork: boolean | ((location: string) => boolean)
  sync(run: Run): Promise<void>
}

const snapshot = async (run: Run): Promise<void> => {
  const { syncSnapshot } = await import('./snapshot/sync-snapshot.ts')
  await syncSnapshot(run)
}

/** The engine of each kind of upstream: one for nodes, which have a log, one for snapshots. Bundles are not synced. */
export const engines: Readonly<Record<UpstreamKind, Engine>> = {
  node: { asksNetwork: true, sync: syncNode },
  registry: { asksNetwork: true, sync: snapshot },
  discovery: { asksNetwork: true, sync: snapshot },
  git: { asksNetwork: (location) => !location.startsWith('/'), sync: snapshot },
  folder: { asksNetwork: false, sync: snapshot },
  bundle: { asksNetwork: false, sync: refuseBundleSync },
}

async function syncNode(run: Run): Promise<void> {
  await withNodeSource(run, (source) => syncLog(run, source))
  // Syncs the private skills separately, because the log does not contain them.
  const { syncPrivate } = await import('./snapshot/sync-private.ts')
  await syncPrivate(run)
}

/** Calls `work` with the log of a node. Throws `upstream_failed` if the location has no log. */
export async function withNodeSource<T>(run: Run, work: (source: LogSource) => Promise<T>): Promise<T> {
  const { parts, upstream, http, signal } = run
  const apiKey = parts.readCredential(upstream)
  const source = createNodeSource({ baseUrl: upstream.location, http, apiKey, signal })
  try {
    return await work(source)
  } catch (error) {
    throw explainNodeFailure(error, upstream.location)
  }
}

/** Whether syncing an upstream opens sockets. */
export function asksNetwork({ kind, location }: Pick<Upstream, 'kind' | 'location'>): boolean {
  const { asksNetwork: asks } = engines[kind]
  return typeof asks === 'function' ? asks(location) : asks
}

/** Suggests another kind in the error of a server without a feed, which is not a Skillstead node. */
function explainNodeFailure(error: unknown, location: string): unknown {
  if (!isRegistryError(error, 'not_found', 'method_not_allowed')) return error
  const detail = `${location} has no feed. Add a registry without a feed with --kind registry, or a discovery index with --kind discovery.`
  return new RegistryError('upstream_failed', detail, { cause: error })
}

async function refuseBundleSync({ upstream }: Run): Promise<void> {
  const detail = `'${upstream.name}' is imported from bundles. Import the next one with \`skillstead bundle import FILE --name ${upstream.name}\`.`
  throw new RegistryError('invalid_request', detail)
}
