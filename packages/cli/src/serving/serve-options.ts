import type { RegistryOptions } from '@skillstead/core'
import type { BackupPlan } from '@skillstead/maintenance'
import { maintenanceExtension } from '@skillstead/maintenance/extension'
import { mirrorExtension } from '@skillstead/mirror/extension'
import { gatewayNames, type GatewayName } from '@skillstead/gateways'
import { isSkillName, planNames, type PlanName, toOneLine } from '@skillstead/protocol'
import { createLogger, type ConnectionLimits, type ListenOptions } from '@skillstead/server'
import { UsageError, flag, textOption, type Arguments, type Options } from '../command/command.ts'
import { isHttpUrl, readOptionBytes, readSecretFile, toUnits, wholeNumberOption } from '../command/values.ts'
import { networkOptions, toNetworkMode } from '../mirror/options.ts'
import { outgoingOptions, toOutgoing } from '../registry/outgoing-options.ts'
import { nodeDefaultPlan, requireDatabase } from '../registry/place.ts'
import { originOption, scanPolicyOption, toLogOrigin, toScanPolicy } from '../registry/registry-options.ts'
import { toLogStream } from '../terminal/io.ts'
import { configOption } from './config-file.ts'
import { findDashboard } from './dashboard-files.ts'
import { listenOptions, withVariables } from './listen-options.ts'
import { readCertificate, tlsOptions } from './tls-options.ts'
import { mailOptions, toMailer } from './mail-options.ts'
import { signInOptions, toLocalSignIn } from './sign-in-options.ts'
import { secondOpinionOptions, toSecondOpinion } from './second-opinion-options.ts'

/** Options of a node that its help shows. */
const commonOptions: Options = {
  ...configOption,
  ...listenOptions,
  'rate-limits': {
    value: 'RATES',
    help: 'requests per minute for each plan, and downloads per minute for each address, as NAME=NUMBER separated by commas (others keep their default), or off. Default: anonymous=600,free=60,pro=300,team=600,enterprise=6000,files=5000,mebibytes=1024',
  },
  'trusted-proxies': { value: 'CIDR,...', help: 'proxy networks whose X-Forwarded-For and Host headers are trusted' },
  ...originOption,
  'public-url': { value: 'URL', help: 'the public address of the node' },
  ...tlsOptions,
  'cors-origins': {
    value: 'ORIGIN,...',
    help: 'web origins that may call the API without a key, such as https://app.example.com. Default: none',
  },
  'metrics-token': {
    value: 'TOKEN',
    help: 'the token with which other machines can read /metrics (or SKILLSTEAD_METRICS_TOKEN, which other users of this machine cannot read)',
    env: 'SKILLSTEAD_METRICS_TOKEN',
  },
  ...outgoingOptions,
  ...networkOptions,
  'default-plan': { value: 'PLAN', help: `the plan of new users. Default: ${nodeDefaultPlan}`, choices: planNames },
  ...scanPolicyOption,
  'backup-every': {
    value: 'TIME',
    help: 'copy the registry into DIR/backups at this interval, such as 6h or 1d (or SKILLSTEAD_BACKUP_EVERY)',
    env: 'SKILLSTEAD_BACKUP_EVERY',
  },
  private: { help: 'require an API key for every request' },
  'record-installers': { help: 'show the owner of a skill which users installed it, and tell users so' },
  'audit-log': {
    value: 'FILE',
    help: 'append each entry of the audit log to this file as one line of JSON; - for standard output. Default: none',
  },
  'json-logs': { help: 'log one line of JSON per request to standard output' },
}

/** Options of a node for which a configuration file is the better place. */
const rareOptions: Options = {
  'database-read-url': {
    value: 'URL',
    help: 'the URL of a streaming replica of --database-url that answers lists and searches (or SKILLSTEAD_DATABASE_READ_URL, which other users of this machine cannot read). Default: none',
    env: 'SKILLSTEAD_DATABASE_READ_URL',
  },
  'connection-limits': {
    value: 'LIMITS',
    help: 'connection limits, as NAME=NUMBER separated by commas (others keep their default); times in seconds. Default: total=16384,address=5000,head=15,request=120,idle=75,answer=60',
  },
  gateways: {
    value: 'NAME,...',
    help: `the protocols of other installers that the node speaks, or none. Default: ${gatewayNames.join(',')}`,
  },
  'discovery-pack': {
    value: 'SLUG',
    help: "the pack that `npx skills add` installs from the node's root URL. Default: none",
  },
  'site-name': {
    value: 'NAME',
    help: 'the name of the node on its pages. Default: Skillstead (or SKILLSTEAD_SITE_NAME)',
    env: 'SKILLSTEAD_SITE_NAME',
  },
  'site-text': {
    value: 'TEXT',
    help: 'a sentence about the node on its first page (or SKILLSTEAD_SITE_TEXT)',
    env: 'SKILLSTEAD_SITE_TEXT',
  },
  'site-logo': {
    value: 'FILE',
    help: 'an SVG or PNG file with the logo of the node, at most 256 KiB (or SKILLSTEAD_SITE_LOGO)',
    env: 'SKILLSTEAD_SITE_LOGO',
  },
  'metrics-token-file': { value: 'FILE', help: 'a file with the metrics token' },
  'embeddings-url': {
    value: 'URL',
    help: 'an OpenAI-compatible embeddings service, such as http://127.0.0.1:11434/v1, that orders the best hits of searches again. It receives queries and texts of public skills. Default: none (or SKILLSTEAD_EMBEDDINGS_URL)',
    env: 'SKILLSTEAD_EMBEDDINGS_URL',
  },
  'embeddings-model': {
    value: 'NAME',
    help: 'the model of the embeddings service (or SKILLSTEAD_EMBEDDINGS_MODEL)',
    env: 'SKILLSTEAD_EMBEDDINGS_MODEL',
  },
  'embeddings-key-file': {
    value: 'FILE',
    help: 'a file with the API key of the embeddings service (or SKILLSTEAD_EMBEDDINGS_KEY_FILE)',
    env: 'SKILLSTEAD_EMBEDDINGS_KEY_FILE',
  },
  'embeddings-timeout': {
    value: 'MS',
    help: 'the milliseconds after which a search does without the embeddings service. Default: 300 (or SKILLSTEAD_EMBEDDINGS_TIMEOUT)',
    env: 'SKILLSTEAD_EMBEDDINGS_TIMEOUT',
  },
  ...secondOpinionOptions,
  ...mailOptions,
  ...signInOptions,
  'webhook-off-after': {
    value: 'N',
    help: 'disable a webhook after N failed deliveries in a row; 0 for never. Default: 20',
  },
  'storage-quota': {
    value: 'SIZE',
    help: 'the storage quota of each user on the free plan, such as 500MiB or 2GiB; 0 for no limit. Default: 1GiB',
  },
  'backups-max': {
    value: 'N',
    help: 'the number of copies to retain. Default: 7 (or SKILLSTEAD_BACKUPS_MAX)',
    env: 'SKILLSTEAD_BACKUPS_MAX',
  },
}

/** Options of a node, each with an environment variable. */
export const serveOptions: Options = withVariables({
  ...commonOptions,
  ...Object.fromEntries(Object.entries(rareOptions).map(([name, option]) => [name, { ...option, isRare: true }])),
})

/** The options for the registry of a node, with its extensions. Throws {@link UsageError} for invalid values. */
export async function toRegistryOptions(given: Arguments): Promise<RegistryOptions> {
  return {
    databaseReadUrl: toReadUrl(given),
    origin: toLogOrigin(given),
    outgoing: { ...(await toOutgoing(given)), offline: toNetworkMode(given) === 'offline' },
    webhooks: {
      offAfterFailures: wholeNumberOption(
        given,
        'webhook-off-after',
        'number of failures',
        [0, 999_999_999],
        'Use 0 or more.',
      ),
    },
    localSignIn: toLocalSignIn(given),
    defaultPlan: textOption<PlanName>(given, 'default-plan') ?? nodeDefaultPlan,
    scanPolicy: { ...toScanPolicy(given), opinionClears: flag(given, 'second-opinion-clears') },
    secondOpinion: toSecondOpinion(given),
    storageQuotaBytes: toStorageQuota(given),
    recordInstallers: flag(given, 'record-installers'),
    embeddings: toEmbeddings(given),
    mailer: toMailer(given),
    extensions: [mirrorExtension, maintenanceExtension({ backups: toBackupPlan(given) })],
  }
}

function toReadUrl(given: Arguments): string | undefined {
  const url = textOption(given, 'database-read-url')
  if (url === undefined) return undefined
  if (textOption(given, 'data') === undefined) return requireDatabase(url, '--database-read-url')
  throw new UsageError('--database-read-url is the URL of a replica of --database-url. Pass both, without --data.')
}

/** The options for the listening node. Throws {@link UsageError} for invalid values. */
export function toListenOptions(given: Arguments): ListenOptions {
  return {
    port: wholeNumberOption(given, 'port', 'port', [0, 65_535]),
    host: textOption(given, 'host'),
    tls: readCertificate(given),
    rates: toRates(textOption(given, 'rate-limits')),
    connections: toConnections(given),
    trustedProxies: textOption(given, 'trusted-proxies')?.split(','),
    publicUrl: textOption(given, 'public-url'),
    corsOrigins: textOption(given, 'cors-origins')?.split(','),
    gateways: toGateways(textOption(given, 'gateways')),
    discoveryPack: toPack(textOption(given, 'discovery-pack')),
    metricsToken: toMetricsToken(given),
    requireKey: flag(given, 'private'),
    logger: flag(given, 'json-logs') ? createLogger(toLogStream(given.io)) : undefined,
    dashboard: findDashboard(),
    site: toSite(given),
  }
}

function toSite(given: Arguments): ListenOptions['site'] {
  const logo = textOption(given, 'site-logo')
  return {
    name: textOption(given, 'site-name'),
    text: textOption(given, 'site-text'),
    logo: logo === undefined ? undefined : readOptionBytes(logo, 256 * 1024),
  }
}

function toGateways(given: string | undefined): readonly GatewayName[] | undefined {
  if (given === undefined) return undefined
  const names = given === 'none' ? [] : given.split(',').map((name) => name.trim())
  return names.map((name) => {
    const known = gatewayNames.find((one) => one === name)
    if (known) return known
    throw new UsageError(`'${toOneLine(name)}' is not a gateway. Use a list of ${gatewayNames.join(', ')}, or none.`)
  })
}

function toPack(given: string | undefined): string | undefined {
  if (given === undefined || isSkillName(given)) return given
  throw new UsageError(`'${toOneLine(given)}' is not a pack slug. Use a slug such as web-basics.`)
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

const limitNames: Readonly<Record<string, { readonly limit: keyof ConnectionLimits; readonly unit: number }>> = {
  total: { limit: 'connectionsMax', unit: 1 },
  address: { limit: 'addressConnectionsMax', unit: 1 },
  head: { limit: 'headMs', unit: 1000 },
  request: { limit: 'requestMs', unit: 1000 },
  idle: { limit: 'idleMs', unit: 1000 },
  answer: { limit: 'answerMs', unit: 1000 },
}

/** The connection limits of the options. Throws {@link UsageError} for invalid values. */
function toConnections(given: Arguments): Partial<ConnectionLimits> | undefined {
  const list = textOption(given, 'connection-limits')
  return list === undefined ? undefined : Object.fromEntries(list.split(',').map(toBound))
}

function toBound(part: string): [keyof ConnectionLimits, number] {
  const [, name = '', number = ''] = /^([a-z]+)=([1-9]\d{0,5})$/.exec(part.trim()) ?? []
  if (!Object.hasOwn(limitNames, name)) {
    throw new UsageError(
      `'${part}' is not a connection limit. Use the form address=1024 with any of ${Object.keys(limitNames).join(', ')}.`,
    )
  }
  const { limit, unit } = limitNames[name]!
  return [limit, Number(number) * unit]
}

/** The metrics token of the options. Throws {@link UsageError} for a file without a token. */
function toMetricsToken(given: Arguments): string | undefined {
  const file = textOption(given, 'metrics-token-file')
  return file === undefined ? textOption(given, 'metrics-token') : readSecretFile(file, 'metrics token')
}

/** The embeddings service. Throws {@link UsageError} for incomplete or invalid options. */
function toEmbeddings(given: Arguments): RegistryOptions['embeddings'] {
  const [url, model, file] = ['url', 'model', 'key-file'].map((name) => textOption(given, `embeddings-${name}`))
  const timeoutMs = wholeNumberOption(given, 'embeddings-timeout', 'number of milliseconds', [1, 99_999])
  if ([url, model, file, timeoutMs].every((one) => one === undefined)) return undefined
  if (url === undefined || model === undefined)
    throw new UsageError('Pass both --embeddings-url and --embeddings-model.')
  if (!isHttpUrl(url))
    throw new UsageError(`'${toOneLine(url)}' is not an HTTP URL. Use http:// or https://, without credentials.`)
  const key = file === undefined ? undefined : readSecretFile(file, 'API key')
  return { url, model, ...(key && { key }), ...(timeoutMs && { timeoutMs }) }
}

const sizeUnits = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 }

/** The storage quota in bytes. Throws {@link UsageError} for an invalid size. */
function toStorageQuota(given: Arguments): number | undefined {
  const size = textOption(given, 'storage-quota')
  if (size === undefined) return undefined
  const bytes = toUnits(size, sizeUnits)
  if (Number.isNaN(bytes))
    throw new UsageError(`'${size}' is not a size. Use a form such as 500MiB or 2GiB, or 0 for no quota.`)
  return bytes
}

const backupsMaxDefault = 7
const minuteMs = 60_000
const intervalUnits = { m: minuteMs, h: 60 * minuteMs, d: 1440 * minuteMs, w: 10_080 * minuteMs }
const everyMaxMs = 366 * intervalUnits.d

/**
 * The backup plan of the options; undefined without one. Throws {@link UsageError} for invalid values, and for
 * PostgreSQL.
 */
function toBackupPlan(given: Arguments): BackupPlan | undefined {
  const every = textOption(given, 'backup-every')
  const backupsMax = wholeNumberOption(given, 'backups-max', 'number of backups', [1, 999_999], 'Use 1 or more.')
  if (every === undefined) {
    if (backupsMax === undefined) return undefined
    throw new UsageError('--backups-max needs --backup-every. Pass both.')
  }
  if (textOption(given, 'data') === undefined) {
    throw new UsageError(
      '--backup-every works with --data only. For PostgreSQL run pg_dump or `skillstead export` on a timer.',
    )
  }
  const everyMs = toUnits(every, intervalUnits)
  if (everyMs >= minuteMs && everyMs <= everyMaxMs) return { everyMs, backupsMax: backupsMax ?? backupsMaxDefault }
  throw new UsageError(`'${every}' is not a backup interval. Use a time such as 30m, 6h, 1d or 1w.`)
}
