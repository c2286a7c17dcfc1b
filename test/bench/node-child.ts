import { monitorEventLoopDelay } from 'node:perf_hooks'
import { partsOf } from '@skillstead/core/internal'
import { findDashboard } from '../../packages/cli/src/serving/dashboard-files.ts'
import { processIo } from '../../packages/cli/src/process-io.ts'
import { listenNode } from '@skillstead/server'
import type { ChildOptions } from './children.ts'
import { startProfile } from './profiler.ts'
import { openRegistry } from '../support/open-registry.ts'

/** A node in a process of its own, so that what loads it does not share its event loop. */
const options = JSON.parse(process.argv[2]!) as ChildOptions
// As `skillstead serve` does.
processIo.limitMemory?.()
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const registry = await openRegistry(options.registry)
const node = await listenNode(registry, { port: 0, rates: 'off', logger: undefined, dashboard: findDashboard() })

/** The most processor time of the event loop's thread between two turns of the loop, since the last question. */
let turnCpuMs = 0
let turnedAtMs = 0
function turn(): void {
  const { user, system } = process.threadCpuUsage()
  const cpuMs = (user + system) / 1000
  turnCpuMs = Math.max(turnCpuMs, cpuMs - turnedAtMs)
  turnedAtMs = cpuMs
}

// Opening a database and loading modules is not what is watched.
delay.reset()
let profile: Awaited<ReturnType<typeof startProfile>> | undefined
process.on('message', async (message: string | { stopProfile: string }) => {
  if (typeof message !== 'string') return process.send!(await profile!.stop(message.stopProfile))
  if (message === 'warm') await partsOf(registry).search.warmed
  if (message === 'profile') profile = await startProfile()
  // Only if it is asked for: it takes some of the processor.
  if (message === 'turns') setInterval(turn, 1).unref()
  const { rss } = process.memoryUsage()
  const [cpuMs, threadCpuMs] = [process.cpuUsage(), process.threadCpuUsage()].map(
    ({ user, system }) => (user + system) / 1000,
  )
  process.send!({ rssMib: rss / 1024 / 1024, delayMaxMs: delay.max / 1e6, turnCpuMs, cpuMs, threadCpuMs })
  delay.reset()
  turn()
  turnCpuMs = 0
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await node.close()
  await registry.close()
  process.exit(0)
})
process.send!({ port: node.port })
