import { guest, localApi, openRegistry, type Registry, type RegistryOptions } from '@skillstead/core'
import { makePrivateFolder, partsOf } from '@skillstead/core/internal'
import { maintenanceExtension } from '@skillstead/maintenance/extension'
import { mirrorExtension } from '@skillstead/mirror/extension'
import type { Mirror } from '@skillstead/mirror'
import { isSkillName, planNames } from '@skillstead/protocol'
import { createLogger, listenNode, type ListenOptions, type ListeningNode } from '@skillstead/server'
import { backupOptions, toBackupPlan } from '../serving/backup-options.ts'
import { UsageError, flag, text, type Arguments, command, type Option } from '../command/command.ts'
import { connectionOptions, toConnections } from '../serving/connection-options.ts'
import { findAccessWarning } from '../files/file-access.ts'
import { toLogStream, untilInterrupted, type Io } from '../terminal/io.ts'
import { createErrorLog, toOneLine, type Output } from '../terminal/output.ts'
import { findDashboard } from '../serving/dashboard-files.ts'
import { metricsTokenOptions, toMetricsToken } from '../serving/metrics-token.ts'
import { networkOptions, toNetworkMode } from '../mirror/options.ts'
import { createNodeMirror } from '../serving/node-mirror.ts'
import { originOption, toOrigin } from '../registry/origin-option.ts'
import { outgoingOptions, toOutgoing } from '../registry/outgoing-options.ts'
import { storeOptions, toLocation } from '../registry/place.ts'
import { scanPolicyOption, toScanPolicy } from '../registry/scan-policy.ts'
import { toSecretKey } from '../registry/secret-key.ts'
import { storageQuotaOption, toStorageQuota } from '../serving/storage-quota.ts'
import { toPlan } from './users.ts'

export const serveOptions: Record<string, Option> = {
  port: { value: 'PORT', help: 'the port to listen on; 0 picks a free port. Default: 7545' },
  host: { value: 'HOST', help: 'the address to listen on. Default: 127.0.0.1' },
  'rate-limits': {
    value: 'RATES',
    help: 'limits per minute (any subset), or off. Default for requests: anonymous=60,free=60,pro=300,team=600,enterprise=6000; for downloads by one address: files=5000,mebibytes=1024',
  },
  ...connectionOptions,
  'trusted-proxies': { value: 'CIDR,...', help: 'proxy networks whose X-Forwarded-For and Host headers are trusted' },
  ...originOption,
  'public-url': { value: 'URL', help: 'the public address of the node' },
  'cors-origins': {
    value: 'ORIGIN,...',
    help: 'web origins that may call the API without a key, such as https://app.example.com. Default: none',
  },
  'discovery-pack': { value: 'SLUG', help: 'the pack that `npx skills add` finds at the root. Default: none' },
  ...metricsTokenOptions,
  ...outgoingOptions,
  ...networkOptions,
  'default-plan': { value: 'PLAN', help: `the plan of new users: ${planNames.join(', ')}. Default: free` },
  'webhook-off-after': {
    value: 'N',
    help: 'disable a webhook after N failed deliveries in a row; 0 for never. Default: 20',
  },
  ...scanPolicyOption,
  ...storageQuotaOption,
  ...backupOptions,
  private: { help: 'require an API key for every request' },
  'json-logs': { help: 'log one line of JSON per request to standard output' },
}

export const commands = {
  // Runs a node until it is interrupted.
  serve: command({
    description: 'Serve a registry until interrupted. Requests in progress are finished first.',
    options: { ...serveOptions, ...storeOptions },
    async run(given, output) {
      given.io.limitMemory?.()
      const work = await toWorkOptions(given)
      const registry = await openRegistry({
        ...toLocation(given, { make: makePrivateFolder }),
        ...work,
        secretKey: toSecretKey(given),
        onError: createErrorLog(given.io),
      })
      const running = await listen(registry, given, output)
      const setupCode = await findSetupCode(registry)
      tellAddress(running, output, setupCode)
      if (setupCode !== undefined) {
        output.say(
          `There are no users yet. Create the first one at ${running.node.url}/account/setup with the code ${setupCode}`,
        )
      }
      await untilStopped(running, given.io, output)
      return undefined
    },
  }),
}

/** Reads the options for the registry's name, its outgoing work and its extensions. Throws {@link UsageError} for invalid values. */
export async function toWorkOptions(
  given: Arguments,
): Promise<
  Pick<
    RegistryOptions,
    'origin' | 'outgoing' | 'webhooks' | 'defaultPlan' | 'scanPolicy' | 'storageQuotaBytes' | 'extensions'
  >
> {
  return {
    origin: toOrigin(given),
    outgoing: { ...(await toOutgoing(given)), offline: toNetworkMode(given) === 'offline' },
    webhooks: { offAfterFailures: toCount(text(given, 'webhook-off-after')) },
    defaultPlan: toPlan(text(given, 'default-plan')),
    scanPolicy: toScanPolicy(given),
    storageQuotaBytes: toStorageQuota(given),
    extensions: [mirrorExtension, maintenanceExtension({ backups: toBackupPlan(given) })],
  }
}

/** A running node with its registry and mirror. */
interface Running {
  readonly registry: Registry
  readonly mirror: Mirror
  readonly node: ListeningNode
}

/** Starts the node and the sync of its upstreams. Closes the registry again on failure. */
export async function listen(registry: Registry, given: Arguments, output: Output): Promise<Running> {
  let mirror: Mirror | undefined
  try {
    mirror = await createNodeMirror(registry, given, output)
    const node = await listenNode(registry, toListenOptions(given))
    mirror.start()
    return { registry, mirror, node }
  } catch (error) {
    await mirror?.close()
    await registry.close()
    throw isPortTaken(error) ? new Error(`${error.message} Stop the other process or pass --port.`) : error
  }
}

function isPortTaken(error: unknown): error is Error {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

/** Prints the URL of the node, as a sentence or one line of JSON, and warns when other users can read its files. */
export function tellAddress({ node, registry }: Running, output: Output, setupCode?: string): void {
  const { url, port } = node
  output.print(output.json ? JSON.stringify({ url, port, setupCode }) : `Skillstead listens on ${url}`)
  const warning = findAccessWarning(partsOf(registry).database.path)
  if (warning !== undefined) output.say(warning)
}

/** The setup code of a node without users. Anyone who knows it can create the first user, an administrator. */
async function findSetupCode(registry: Registry): Promise<string | undefined> {
  const { needed } = await localApi(registry, guest).getSetup()
  return needed ? partsOf(registry).setup.code : undefined
}

/** Waits for an interruption, then shuts down in order. */
export async function untilStopped({ registry, mirror, node }: Running, io: Io, output: Output): Promise<void> {
  await untilInterrupted(io)
  output.say('Finishing requests in progress. Interrupt again to stop at once.')
  await node.close()
  await mirror.close()
  await registry.close()
}

function toListenOptions(given: Arguments): ListenOptions {
  return {
    port: toPort(text(given, 'port')),
    host: text(given, 'host'),
    rates: toRates(text(given, 'rate-limits')),
    connections: toConnections(given),
    trustedProxies: text(given, 'trusted-proxies')?.split(','),
    publicUrl: text(given, 'public-url'),
    corsOrigins: text(given, 'cors-origins')?.split(','),
    discoveryPack: toPack(text(given, 'discovery-pack')),
    metricsToken: toMetricsToken(given),
    requireKey: flag(given, 'private'),
    logger: flag(given, 'json-logs') ? createLogger(toLogStream(given.io)) : undefined,
    dashboard: findDashboard(),
  }
}

function toPack(given: string | undefined): string | undefined {
  if (given === undefined || isSkillName(given)) return given
  throw new UsageError(`'${toOneLine(given)}' is not a pack slug. Use a slug such as web-basics.`)
}

function toCount(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (!/^\d{1,9}$/.test(given)) throw new UsageError(`'${given}' is not a number of failures. Use 0 or more.`)
  return Number(given)
}

function toPort(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (!/^\d+$/.test(given) || port > 65_535)
    throw new UsageError(`'${given}' is not a port. Use a number from 0 to 65535.`)
  return port
}

const rateNames: readonly string[] = ['anonymous', ...planNames, 'files', 'mebibytes']

function toRates(given: string | undefined): ListenOptions['rates'] {
  if (given === undefined || given === 'off') return given
  const rates: Record<string, number> = {}
  for (const part of given.split(',')) {
    const [, name = '', rate = ''] = /^([a-z]+)=(\d+)$/.exec(part.trim()) ?? []
    if (!rateNames.includes(name) || Number(rate) < 1) {
      throw new UsageError(`'${part}' is not a rate. Use the form free=60 with any of ${rateNames.join(', ')}.`)
    }
    rates[name] = Number(rate)
  }
  return rates
}
