import { systemClock } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { createLogger, listenNode } from '@skillstead/server'
import { openRegistry } from '../support/open-registry.ts'

/** A node of a cluster, in a process of its own. */
export interface NodeOptions {
  readonly databaseUrl: string
  /** The certificate of those who receive, and the port where all of them listen. */
  readonly ca: string
  readonly port: number
  /** How far the clock is ahead, so that leases of killed nodes run out. */
  readonly clockStepMs: number
}

/** More than any test asks: the limits are at work, and nobody is refused. */
const plenty = 1_000_000

const { databaseUrl, ca, port, clockStepMs } = JSON.parse(process.argv[2]!) as NodeOptions
// Whoever looks after this process is gone.
process.once('disconnect', () => process.exit(1))
const registry = await openRegistry({
  databaseUrl,
  clock: { ...systemClock, now: () => Date.now() + clockStepMs },
  outgoing: {
    allowNetworks: ['127.0.0.0/8'],
    ca: [ca],
    resolver: { lookup: async () => [{ address: '127.0.0.1', port }], txt: async () => [] },
  },
  // The database is taken away, and everything in the background says so.
  onError: () => {},
})
const rates = { anonymous: plenty, free: plenty, pro: plenty, team: plenty, enterprise: plenty }
const logger = createLogger()
logger.level = 'error'
const node = await listenNode(registry, {
  // As behind a balancer: the nodes answer the same, addresses of pictures included.
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
