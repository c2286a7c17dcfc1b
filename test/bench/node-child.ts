import { monitorEventLoopDelay } from 'node:perf_hooks'
import { partsOf } from '@skillstead/core/internal'
import { findDashboard } from '../../packages/cli/src/serving/dashboard-files.ts'
import { limitYoungMemory } from '../../packages/cli/src/young-memory.ts'
import { listenNode } from '@skillstead/server'
import type { ChildOptions } from './children.ts'
import { openRegistry } from '../support/open-registry.ts'

/** A node in a process of its own, so that what loads it does not share its event loop. */
const options = JSON.parse(process.argv[2]!) as ChildOptions
// As `skillstead serve` does.
limitYoungMemory()
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const registry = await openRegistry(options.registry)
const node = await listenNode(registry, { port: 0, rates: 'off', logger: undefined, dashboard: findDashboard() })

// Opening a database and loading modules is not what is watched.
delay.reset()
process.on('message', async (message) => {
  if (message === 'warm') await partsOf(registry).search.warmed
  const { rss } = process.memoryUsage()
  process.send!({ rssMib: rss / 1024 / 1024, delayMaxMs: delay.max / 1e6 })
  delay.reset()
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await node.close()
  await registry.close()
  process.exit(0)
})
process.send!({ port: node.port })
