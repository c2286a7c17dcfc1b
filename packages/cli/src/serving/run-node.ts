import { openRegistry, type Registry } from '@skillstead/core'
import { makePrivateFolder, partsOf } from '@skillstead/core/internal'
import { createMirror, type Mirror } from '@skillstead/mirror'
import { toOneLine } from '@skillstead/protocol'
import { createLogger, listenNode } from '@skillstead/server'
import { flag, type Arguments } from '../command/command.ts'
import { findAccessWarning } from '../files/file-access.ts'
import { toMirrorOptions } from '../mirror/with-mirror.ts'
import { toLocation } from '../registry/place.ts'
import { toSecretKey } from '../registry/secret-key.ts'
import { toLogStream, untilInterrupted } from '../terminal/io.ts'
import { createErrorLog, type Output } from '../terminal/output.ts'
import { toListenOptions, toRegistryOptions } from './serve-options.ts'

/** What a node prints when it listens: lines for its URL, and the setup code of a node without users. */
interface Greeting {
  readonly setupCode?: string | undefined
  toLines(url: string): readonly string[]
}

/**
 * Opens the registry that the options name, serves it until an interruption, and shuts down in order. `prepare` runs
 * before the node listens.
 */
export async function runNode(
  given: Arguments,
  output: Output,
  prepare: (registry: Registry) => Promise<Greeting>,
): Promise<void> {
  given.io.limitMemory?.()
  const options = await toRegistryOptions(given)
  const registry = await openRegistry({
    ...toLocation(given, { make: makePrivateFolder }),
    ...options,
    secretKey: toSecretKey(given),
    onError: createErrorLog(given.io),
  })
  const { setupCode, toLines } = await prepare(registry)
  const { node, mirror } = await listen(registry, given, output)
  const { url, port } = node
  if (output.json) output.showJson({ url, port, setupCode })
  else output.show(`Skillstead listens on ${url}`)
  const warning = findAccessWarning(partsOf(registry).database.path)
  for (const line of [...(warning === undefined ? [] : [warning]), ...toLines(url)]) output.say(line)
  await untilInterrupted(given.io)
  output.say('Finishing requests in progress. Interrupt again to stop at once.')
  await node.close()
  await mirror.close()
  await registry.close()
}

/** Starts the node and the sync of its upstreams. Closes the registry again on failure. */
async function listen(registry: Registry, given: Arguments, output: Output) {
  let mirror: Mirror | undefined
  try {
    mirror = await createNodeMirror(registry, given, output)
    const node = await listenNode(registry, toListenOptions(given))
    mirror.start()
    return { mirror, node }
  } catch (error) {
    await mirror?.close()
    await registry.close()
    throw isPortTaken(error) ? new Error(`${error.message} Stop the other process or pass --port.`) : error
  }
}

function isPortTaken(error: unknown): error is Error {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

/** Creates the mirror of a node, before the node listens. After its start it syncs upstreams on schedule. */
async function createNodeMirror(registry: Registry, given: Arguments, { warn }: Output): Promise<Mirror> {
  const logger = flag(given, 'json-logs') ? createLogger(toLogStream(given.io)) : undefined
  return createMirror(registry, {
    ...(await toMirrorOptions(given)),
    onError(error) {
      if (logger) logger.warn({ err: error }, 'mirror failed')
      else warn(toOneLine(error instanceof Error ? error.message : String(error)))
    },
    onAlarm(upstream, { code, message }) {
      if (logger) logger.error({ upstream, alarm: code }, message)
      else warn(toOneLine(`The sync of '${upstream}' is paused (${code}): ${message}`))
    },
    onReport({ upstream, applied, refusedTotal, requests, durationMs }) {
      if (applied + refusedTotal > 0)
        logger?.info({ upstream, applied, refused: refusedTotal, requests, durationMs }, 'synced')
    },
  })
}
