import { systemClock } from '@skillstead/core'
import { type BucketOptions, partsOf } from '@skillstead/core/internal'
import { createLogger, listenNode } from '@skillstead/server'
import { openRegistry } from '../support/open-registry.ts'

/** A node of a cluster, in a process of its own. */
export interface NodeOptions {
  readonly databaseUrl: string
  readonly databaseReadUrl: string
  readonly blobs: BucketOptions
  /** The CA certificate of the receivers, and the port on which all of them listen. */
  readonly ca: string
  readonly port: number
  /** How far the clock is ahead, so that leases of killed nodes run out. */
  readonly clockStepMs: number
}

/** A rate above every test: the rate limits are active, but refuse no request. */
const plenty = 1_000_000

const { databaseUrl, databaseReadUrl, blobs, ca, port, clockStepMs } = JSON.parse(process.argv[2]!) as NodeOptions
// Exit when the parent process is gone.
process.once('disconnect', () => process.exit(1))
const registry = await openRegistry({
  databaseUrl,
  databaseReadUrl,
  blobs,
  clock: { ...systemClock, now: () => Date.now() + clockStepMs },
  outgoing: {
    allowNetworks: ['127.0.0.0/8'],
    ca: [ca],
    resolver: { lookup: async () => [{ address: '127.0.0.1', port }], txt: async () => [] },
  },
  // The tests cut the database connections, so that background jobs report errors.
  onError: () => {},
})
const rates = { anonymous: plenty, free: plenty, pro: plenty, team: plenty, enterprise: plenty }
const logger = createLogger()
logger.level = 'error'
const node = await listenNode(registry, {
  // All nodes share one public URL, as behind a load balancer, so that their responses are equal.
  publicUrl: 'https://cluster.example',
  port: 0,
  rates,
  logger,
})
await partsOf(registry).search.warmed
process.once('SIGTERM', async () => {
  await node.close()
  await registry.close()
  process.exit(0)
})
process.send!({ url: node.url })
