import { setTimeout as sleep } from 'node:timers/promises'
import { localApi, systemCaller, type Registry } from '@skillstead/core'
import type { FeedEntry, Mirror, SyncReport } from '@skillstead/mirror'
import { RegistryError, toOneLine, toErrorText } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { toRefusalLines } from '../../mirror/mirror-lines.ts'
import { askingOptions } from '../../mirror/options.ts'
import { withMirror } from '../../mirror/with-mirror.ts'
import { storeOptions } from '../../registry/place.ts'
import { originOption, scanPolicyOption, toScanPolicy } from '../../registry/registry-options.ts'
import type { Output } from '../../terminal/output.ts'

const pageMax = 1000
const waitSeconds = 30
/** Pause after a database error, such as a database that stays locked. */
const pauseMs = 1000

export const commands = {
  'mirror watch': command({
    description: 'Sync upstreams on schedule and print each change, until interrupted.',
    options: { ...scanPolicyOption, ...askingOptions, ...originOption, ...storeOptions },
    printsItself: true,
    async run(given, output) {
      given.io.limitMemory?.()
      const signal = given.io.interruption()
      const { onBegin, ...reporter } = createReporter(output)
      await withMirror(
        given,
        async (mirror, registry) => {
          const upstreams = await mirror.list()
          if (upstreams.length === 0)
            throw new RegistryError('conflict', 'There are no upstreams yet. Add one with `mirror add`.')
          const since = (await localApi(registry, systemCaller).getFeed({ limit: 1 })).head
          mirror.start()
          onBegin(upstreams.map(({ name }) => name))
          signal.addEventListener('abort', () => registry.endWaits(), { once: true })
          await followImports({ mirror, registry }, since, reporter, signal)
        },
        { ...reporter, scanPolicy: toScanPolicy(given) },
      )
      return undefined
    },
  }),
}

/** Prints events: a line of text, or with --json a line of JSON. */
function createReporter({ json, show, showJson, warn }: Output) {
  const printEvent = (event: object, lines: readonly string[]) => {
    if (json) showJson(event)
    else lines.forEach(show)
  }
  return {
    onBegin(upstreams: readonly string[]) {
      if (json) printEvent({ event: 'watching', upstreams }, [])
      else warn(`Watching ${upstreams.join(', ')}. Interrupt to stop.`)
    },
    onEntry(upstream: string, { seq, type, subject, digest, at, data }: FeedEntry) {
      const version = typeof data.version === 'string' ? data.version : null
      const line = `${at}  ${upstream}  ${type}  ${toOneLine(subject)}`
      printEvent({ event: 'change', upstream, seq, type, subject, version, digest, at }, [line])
    },
    onReport(report: SyncReport) {
      const { upstream, applied, refused, refusedTotal } = report
      if (applied + refusedTotal === 0) return
      const lines = [`${upstream}: ${refusedTotal} refused`, ...toRefusalLines(refused, refusedTotal)]
      printEvent({ event: 'synced', ...report }, refusedTotal > 0 ? lines : [])
    },
    onAlarm(upstream: string, alarm: { code: string; message: string }) {
      printEvent({ event: 'alarm', upstream, ...alarm }, [
        `${upstream} is paused (${alarm.code}): ${toOneLine(alarm.message)}`,
      ])
    },
    onError(error: unknown) {
      const detail = toErrorText(error)
      const code = error instanceof RegistryError ? error.code : 'internal'
      if (json) printEvent({ event: 'error', code, detail }, [])
      else warn(toOneLine(detail))
    },
  }
}

/** Reports entries of this registry's log that came from upstreams, whichever process imported them. */
async function followImports(
  { mirror, registry }: { mirror: Mirror; registry: Registry },
  since: number,
  reporter: Pick<ReturnType<typeof createReporter>, 'onEntry' | 'onError'>,
  signal: AbortSignal,
): Promise<void> {
  const api = localApi(registry, systemCaller)
  let next = since
  while (!signal.aborted) {
    try {
      const page = await api.getFeed({ since: next, limit: pageMax, wait: waitSeconds })
      next = page.next
      const sources = await mirror.findSources([...new Set(page.entries.map(toEntryName))])
      for (const entry of page.entries) {
        const upstream = sources.get(toEntryName(entry))
        if (upstream !== undefined) reporter.onEntry(upstream, entry)
      }
    } catch (error) {
      if (signal.aborted) return
      reporter.onError(error)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

function toEntryName({ subject }: FeedEntry): string {
  return subject.split('@')[0]!
}
