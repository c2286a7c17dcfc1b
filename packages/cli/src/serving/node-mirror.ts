import type { Registry } from '@skillstead/core'
import { createMirror, type Mirror } from '@skillstead/mirror'
import { createLogger } from '@skillstead/server'
import { flag, type Arguments } from '../command/command.ts'
import { toLogStream } from '../terminal/io.ts'
import type { Output } from '../terminal/output.ts'
import { toMirrorOptions } from '../mirror/with-mirror.ts'

/** Creates the mirror of a node, before the node listens. After its start it syncs upstreams on schedule. */
export async function createNodeMirror(registry: Registry, given: Arguments, { warn }: Output): Promise<Mirror> {
  const logger = flag(given, 'json-logs') ? createLogger(toLogStream(given.io)) : undefined
  return createMirror(registry, {
    ...(await toMirrorOptions(given)),
    onError(error) {
      if (logger) logger.warn({ err: error }, 'mirror failed')
      else warn(error instanceof Error ? error.message : String(error))
    },
    onAlarm(upstream, { code, message }) {
      if (logger) logger.error({ upstream, alarm: code }, message)
      else warn(`The sync of '${upstream}' is paused (${code}): ${message}`)
    },
    onReport({ upstream, applied, refusedTotal, requests, durationMs }) {
      if (applied + refusedTotal > 0)
        logger?.info({ upstream, applied, refused: refusedTotal, requests, durationMs }, 'synced')
    },
  })
}
