import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RegistryOptions } from '@skillstead/core'
import { createBundle, createMirror, importBundle } from '@skillstead/mirror'
import { processIo } from '../../packages/cli/src/process-io.ts'
import { readPeakMib, resetPeak } from './peak-memory.ts'
import { openRegistry } from '../support/open-registry.ts'

/** What the parent asks of the process that syncs. */
export type MirrorQuestion = { readonly kind: 'sync' } | { readonly kind: 'create' | 'import'; readonly file: string }

/** How it went; `rssMaxMib` is the most memory that the process had meanwhile. */
export interface MirrorFigures {
  readonly ms: number
  readonly requests: number
  readonly applied: number
  readonly refused: number
  readonly rssBeforeMib: number
  readonly rssMaxMib: number
  readonly delayMaxMs: number
}

/** A registry that follows another one, in a process of its own and without an index to search in. */
const { registry: options, url } = JSON.parse(process.argv[2]!) as { registry: RegistryOptions; url?: string }
// As `skillstead serve` and `skillstead mirror sync` do.
processIo.limitMemory?.()
const registry = await openRegistry({ ...options, works: false, memorySkillsMax: 0 })
const mirror = createMirror(registry)
if (url !== undefined) await mirror.add('main', url, { everySeconds: 0 })
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

process.on('message', async (question: MirrorQuestion) => {
  delay.reset()
  resetPeak()
  const rssBeforeMib = process.memoryUsage.rss() / 1024 / 1024
  const startMs = performance.now()
  const { requests, applied, refused } = await run(question)
  const ms = performance.now() - startMs
  const rssMaxMib = readPeakMib()
  const figures: MirrorFigures = {
    ms,
    requests,
    applied,
    refused,
    rssBeforeMib,
    rssMaxMib,
    delayMaxMs: delay.max / 1e6,
  }
  process.send!(figures)
})
// The parent process has ended.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', async () => {
  await mirror.close()
  await registry.close()
  process.exit(0)
})
process.send!({})

async function run(question: MirrorQuestion): Promise<Pick<MirrorFigures, 'requests' | 'applied' | 'refused'>> {
  if (question.kind === 'create') {
    await createBundle(registry, question.file)
    return { requests: 0, applied: 0, refused: 0 }
  }
  const report =
    question.kind === 'sync'
      ? await mirror.sync('main')
      : await importBundle(registry, question.file, { name: 'stick' })
  return { requests: report.requests, applied: report.applied, refused: report.refusedTotal }
}
