import { monitorEventLoopDelay } from 'node:perf_hooks'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { processIo } from '../../packages/cli/src/process-io.ts'
import { openRegistry } from '../support/open-registry.ts'
import type { Figure } from './figures.ts'
import { measureSearches } from './paced-load.ts'
import type { EmbeddedSearches } from './searches.ts'

/** A program that embeds the registry: it searches and publishes in its own process, and reports the figures. */
const { location, ...load } = JSON.parse(process.argv[2]!) as EmbeddedSearches
processIo.limitMemory?.()
const registry = await openRegistry(location)
const api = localApi(registry, await registry.getCaller('bench'))
await partsOf(registry).search.warmed
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'overloaded') return false
    throw error
  }
}

const figures: Figure[] = await measureSearches(
  {
    search: (q) => succeeds(api.searchSkills({ q })),
    publish: (skillMd) => succeeds(api.publishSkill({ skillMd })),
    async delayMaxMs() {
      const maxMs = delay.max / 1e6
      delay.reset()
      return maxMs
    },
  },
  load,
)
const value = process.memoryUsage().rss / 1024 / 1024
process.send!([...figures, { part: load.part, name: 'resident memory', value, unit: 'MiB', most: 550 }])
process.once('message', async () => {
  await registry.close()
  process.exit(0)
})
