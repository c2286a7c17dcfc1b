import { openRegistry, type Registry } from '@skillstead/core'
import { makePrivateFolder, partsOf } from '@skillstead/core/internal'
import { createMirror, type Mirror } from '@skillstead/mirror'
import { toOneLine, readErrorCode, toErrorText } from '@skillstead/protocol'
import { createLogger, listenNode, type ListenOptions } from '@skillstead/server'
import { flag, textOption, type Arguments, type Options } from '../command/command.ts'
import { findAccessWarning } from '../files/file-access.ts'
import { toMirrorOptions } from '../mirror/with-mirror.ts'
import { toStoreLocation } from '../registry/place.ts'
import { toSecretKey } from '../registry/secret-key.ts'
import { isServiceLink, toLogStream, untilInterrupted } from '../terminal/io.ts'
import { createErrorLog, type Output } from '../terminal/output.ts'
import { followAudit, type AuditLog } from './audit-log.ts'
import { withConfigFile } from './config-file.ts'
import { createNodeSignIn } from './sign-in-options.ts'
import { toReachableHost } from './listen-options.ts'
import { readCertificate } from './tls-options.ts'
import { toListenOptions, toRegistryOptions } from './serve-options.ts'

/** What a node prints when it listens: lines for the URL of its pages, and the setup code of a node without users. */
interface Greeting {
  readonly setupCode?: string | undefined
  toLines(url: string): readonly string[]
}

/**
 * Opens the registry that the arguments name, serves it until an interruption, and shuts down in order. `options`
 * defines the options that a configuration file may also set. `prepare` runs before the node listens.
 */
export async function runNode(
  asked: Arguments,
  options: Options,
  output: Output,
  prepare: (registry: Registry) => Promise<Greeting>,
): Promise<void> {
  asked.io.limitMemory?.()
  const { given, result, warning } = await withConfigFile(asked, options, readOptions)
  const registry = await openRegistry({
    ...toStoreLocation(given, { make: makePrivateFolder }),
    ...result.registry,
    secretKey: toSecretKey(given),
    onError: createErrorLog(given.io),
  })
  const { setupCode, toLines } = await prepare(registry)
  const { node, mirror, signIn, auditLog } = await listenOrClose(registry, result.listening, given, output)
  const { url, port } = node
  const pageUrl = toPageUrl(given, url)
  if (output.json) output.showJson({ url, port, setupCode })
  else output.show(`Skillstead listens on ${url}`)
  const ignored = isServiceLink(given.io.env, 'SKILLSTEAD_PORT')
    ? 'SKILLSTEAD_PORT is ignored: Kubernetes set it for the Service named skillstead. --port and PORT set the port.'
    : undefined
  const warnings = [warning, ignored, findAccessWarning(partsOf(registry).database.path)].filter(
    (line) => line !== undefined,
  )
  for (const line of [...warnings, ...toLines(pageUrl)]) output.say(line)
  if (result.listening.tls)
    given.io.onHangUp?.(() => {
      try {
        node.setCertificate(readCertificate(given)!)
        output.say('Read the certificate again.')
      } catch (error) {
        output.warn(`The certificate stays as it is: ${toOneLine(toErrorText(error))}`)
      }
    })
  await untilInterrupted(given.io)
  output.say('Finishing requests in progress. Interrupt again to stop at once.')
  await node.close()
  await signIn?.close()
  await mirror.close()
  await auditLog?.close()
  await registry.close()
}

/** The URL at which users open the pages: only there is a browser's sign-in accepted. */
function toPageUrl(given: Arguments, listening: string): string {
  const publicUrl = textOption(given, 'public-url')
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  const { protocol, port } = new URL(listening)
  return `${protocol}//${toReachableHost(textOption(given, 'host'))}:${port}`
}

async function readOptions(given: Arguments) {
  return { registry: await toRegistryOptions(given), listening: toListenOptions(given) }
}

/** Starts the node and the sync of its upstreams. Closes the registry again on failure. */
async function listenOrClose(registry: Registry, options: ListenOptions, given: Arguments, output: Output) {
  let mirror: Mirror | undefined
  let auditLog: AuditLog | undefined
  try {
    mirror = await createNodeMirror(registry, given, output)
    auditLog = await followAudit(registry, given, output.warn)
    const signIn = await createNodeSignIn(registry, given, createErrorLog(given.io))
    const tokenExchange = async () =>
      (await import('@skillstead/identity')).createTokenExchange(registry, { publicUrl: options.publicUrl })
    const node = await listenNode(registry, { ...options, signIn, tokenExchange })
    mirror.start()
    signIn?.start()
    return { mirror, node, signIn, auditLog }
  } catch (error) {
    await mirror?.close()
    await auditLog?.close()
    await registry.close()
    throw isPortTaken(error) ? new Error(`${error.message} Stop the other process or pass --port.`) : error
  }
}

function isPortTaken(error: unknown): error is Error {
  return error instanceof Error && readErrorCode(error) === 'EADDRINUSE'
}

/** Creates the mirror of a node, before the node listens. A started mirror syncs upstreams on schedule. */
async function createNodeMirror(registry: Registry, given: Arguments, { warn }: Output): Promise<Mirror> {
  const logger = flag(given, 'json-logs') ? createLogger(toLogStream(given.io)) : undefined
  return createMirror(registry, {
    ...(await toMirrorOptions(given)),
    onError(error) {
      if (logger) logger.warn({ err: error }, 'mirror failed')
      else warn(toOneLine(toErrorText(error)))
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
