import { guest, localApi, makePrivateFolder, openRegistry, type Registry, type RegistryOptions } from '@skillstead/core'
import { mirrorExtension } from '@skillstead/mirror/extension'
import type { Mirror } from '@skillstead/mirror'
import { isSkillName, planNames } from '@skillstead/protocol'
import { createLogger, listenNode, type ListenOptions, type ListeningNode } from '@skillstead/server'
import { backupOptions, toBackupPlan } from '../backup-options.ts'
import { UsageError, flag, text, type Arguments, type Command, type Option } from '../command.ts'
import { connectionOptions, toConnections } from '../connection-options.ts'
import { findAccessWarning } from '../file-access.ts'
import { toLogStream, untilInterrupted, type Io } from '../io.ts'
import { createErrorLog, toOneLine, type Output } from '../output.ts'
import { findDashboard } from '../dashboard-files.ts'
import { metricsTokenOptions, toMetricsToken } from '../metrics-token.ts'
import { networkOptions, toNetworkMode } from '../mirror/options.ts'
import { createNodeMirror } from '../node-mirror.ts'
import { originOption, toOrigin } from '../origin-option.ts'
import { outgoingOptions, toOutgoing } from '../outgoing-options.ts'
import { storeOptions, toLocation } from '../place.ts'
import { scanPolicyOption, toScanPolicy } from '../scan-policy.ts'
import { toSecretKey } from '../secret-key.ts'
import { storageQuotaOption, toStorageQuota } from '../storage-quota.ts'
import { toPlan } from './users.ts'

export const serveOptions: Record<string, Option> = {
  port: { value: 'PORT', help: 'where to listen: 7545 unless it is said, 0 for any free one' },
  host: { value: 'HOST', help: 'the address to listen on: 127.0.0.1 unless it is said' },
  'rate-limits': {
    value: 'RATES',
    help: 'limits per minute (any subset), or off. Default: requests anonymous=60,free=60,pro=300,team=600,enterprise=6000 and downloads of artifacts from an address files=5000,mebibytes=1024',
  },
  ...connectionOptions,
  'trusted-proxies': { value: 'CIDR,...', help: 'networks whose X-Forwarded-For and Host are believed' },
  ...originOption,
  'public-url': { value: 'URL', help: 'the address that the outside knows the node by' },
  'cors-origins': {
    value: 'ORIGIN,...',
    help: 'sites whose pages may call without a key, as https://app.example.com. Default: none',
  },
  'discovery-pack': { value: 'SLUG', help: 'the pack that `npx skills add` finds at the root: none unless it is said' },
  ...metricsTokenOptions,
  ...outgoingOptions,
  ...networkOptions,
  'default-plan': { value: 'PLAN', help: `the plan of new users: ${planNames.join(', ')}. Default: free` },
  'webhook-off-after': {
    value: 'N',
    help: 'switches a webhook off when so many deliveries failed in a row: 20 unless it is said, 0 for never',
  },
  ...scanPolicyOption,
  ...storageQuotaOption,
  ...backupOptions,
  private: { help: 'nothing without a key' },
  'json-logs': { help: 'one line of JSON a request, on standard output' },
}

/** `skillstead serve`: a node on a port, until it is told to stop. */
export const serve: Command<undefined> = {
  summary: 'Serves a registry until it is interrupted; what is under way is finished first.',
  words: [],
  options: { ...serveOptions, ...storeOptions },
  async run(given, output) {
    given.io.limitMemory?.()
    const work = await toWorkOptions(given)
    const registry = await openRegistry({
      ...toLocation(given, { make: makePrivateFolder }),
      ...work,
      secretKey: toSecretKey(given),
      extensions: [mirrorExtension],
      onError: createErrorLog(given.io),
    })
    const running = await listen(registry, given, output)
    const setupCode = await findSetupCode(registry)
    tellAddress(running, output, setupCode)
    if (setupCode !== undefined) {
      output.say(`No users yet. Set up at ${running.node.url}/account/setup with the code ${setupCode}`)
    }
    await untilStopped(running, given.io, output)
    return undefined
  },
  show: () => [],
}

/** How the registry of a node is called and does its work outside; throws {@link UsageError} for what cannot be read. */
export async function toWorkOptions(
  given: Arguments,
): Promise<
  Pick<
    RegistryOptions,
    'origin' | 'outgoing' | 'webhooks' | 'defaultPlan' | 'scanPolicy' | 'storageQuotaBytes' | 'backups'
  >
> {
  return {
    origin: toOrigin(given),
    outgoing: { ...(await toOutgoing(given)), offline: toNetworkMode(given) === 'offline' },
    webhooks: { offAfterFailures: toCount(text(given, 'webhook-off-after')) },
    defaultPlan: toPlan(text(given, 'default-plan')),
    scanPolicy: toScanPolicy(given),
    storageQuotaBytes: toStorageQuota(given),
    backups: toBackupPlan(given),
  }
}

/** What runs until it is stopped. */
interface Running {
  readonly registry: Registry
  readonly mirror: Mirror
  readonly node: ListeningNode
}

/** Listens as the options say, and follows what the registry follows; the registry is closed again where that fails. */
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

/** Prints where the node listens, a sentence for people or one line of JSON, and who else can open its file. */
export function tellAddress({ node, registry }: Running, output: Output, setupCode?: string): void {
  const { url, port } = node
  output.print(output.json ? JSON.stringify({ url, port, setupCode }) : `Skillstead listens on ${url}`)
  const warning = findAccessWarning(registry.database.path)
  if (warning !== undefined) output.say(warning)
}

/** Where nobody can sign in yet: what makes the first user of whoever reads it. */
async function findSetupCode(registry: Registry): Promise<string | undefined> {
  const { needed } = await localApi(registry, guest).getSetup()
  return needed ? registry.setup.code : undefined
}

/** Waits for an interruption, then ends in order. */
export async function untilStopped({ registry, mirror, node }: Running, io: Io, output: Output): Promise<void> {
  await untilInterrupted(io)
  output.say('Finishing what is under way; interrupt again to stop at once.')
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
  throw new UsageError(`'${toOneLine(given)}' is no slug of a pack: write it as in web-basics.`)
}

function toCount(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (!/^\d{1,9}$/.test(given)) throw new UsageError(`'${given}' is no number of failures: 0 or more is needed.`)
  return Number(given)
}

function toPort(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (!/^\d+$/.test(given) || port > 65_535)
    throw new UsageError(`'${given}' is no port: a number from 0 to 65535 is needed.`)
  return port
}

const rateNames: readonly string[] = ['anonymous', ...planNames, 'files', 'mebibytes']

function toRates(given: string | undefined): ListenOptions['rates'] {
  if (given === undefined || given === 'off') return given
  const rates: Record<string, number> = {}
  for (const part of given.split(',')) {
    const [, name = '', rate = ''] = /^([a-z]+)=(\d+)$/.exec(part.trim()) ?? []
    if (!rateNames.includes(name) || Number(rate) < 1) {
      throw new UsageError(`'${part}' is no rate: write it as free=60, for ${rateNames.join(', ')}.`)
    }
    rates[name] = Number(rate)
  }
  return rates
}
