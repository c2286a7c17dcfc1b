import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import type { Caller, Registry, RegistryOptions } from '@skillstead/core'
import { RegistryError, type PlanName, type RegistryApi, isRegistryError } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { readVariable } from '../terminal/io.ts'
import { createErrorLog } from '../terminal/output.ts'
import { blobsOptions, toBlobs } from './blobs-options.ts'
import { withCiKey } from './ci-key.ts'
import { findCredential, findCurrentNode } from './credentials.ts'
import { useProxyOfEnvironment } from './proxy.ts'

/** Options for the registry of a command: a folder or a database. */
export const storeOptions: Options = {
  data: { value: 'DIR', help: 'the folder of the registry' },
  'database-url': { value: 'URL', help: 'the URL of a PostgreSQL database, instead of --data (or DATABASE_URL)' },
  ...blobsOptions,
}

/** Like {@link storeOptions}, with options for a running node. */
export const placeOptions: Options = {
  url: { value: 'URL', help: 'a running node (or SKILLSTEAD_URL). Default: the node of your login' },
  key: {
    value: 'KEY',
    help: 'the API key for the node (or SKILLSTEAD_KEY). Default: the key of your login',
    env: 'SKILLSTEAD_KEY',
  },
  ...storeOptions,
}

/** Settings for a registry that a short command opens: no search index in memory, no outbox work. */
const shortLived = { works: false, memorySkillsMax: 0 }

/** The plan of new users of a node: a plan with webhooks. `openRegistry` itself defaults to `free`. */
export const nodeDefaultPlan: PlanName = 'team'

/** The storage location that the options name. `make` creates a missing folder. */
export function toStoreLocation(
  given: Arguments,
  { make }: { make?: (folder: string) => void } = {},
): Pick<RegistryOptions, 'path' | 'databaseUrl' | 'blobs'> {
  const blobs = toBlobs(given)
  const data = textOption(given, 'data')
  const databaseUrl = textOption(given, 'database-url') ?? readVariable(given.io.env, 'DATABASE_URL')
  if (data === undefined) {
    if (databaseUrl !== undefined)
      return { databaseUrl: requireDatabase(databaseUrl, '--database-url or DATABASE_URL'), blobs }
    throw new UsageError('The registry is missing. Pass --data DIR or --database-url URL.')
  }
  const path = join(data, 'skillstead.db')
  if (!make && !existsSync(path))
    throw new Error(`There is no registry in ${data}. Pass the folder of a registry with --data.`)
  make?.(data)
  return { path, blobs }
}

interface OpenOptions extends Pick<RegistryOptions, 'origin' | 'outgoing' | 'scanPolicy' | 'secretKey'> {
  /** Whether a missing folder is created. */
  readonly make?: boolean
}

/**
 * Opens the registry that the options name, runs `work`, and closes it again. The registry's code is loaded only here,
 * because loading takes most of the time of a short command.
 */
export async function withRegistry<T>(
  given: Arguments,
  work: (registry: Registry) => Promise<T>,
  { make, ...parts }: OpenOptions = {},
): Promise<T> {
  const { openRegistry } = await import('@skillstead/core')
  const { makePrivateFolder } = await import('@skillstead/core/internal')
  const { maintenanceExtension } = await import('@skillstead/maintenance/extension')
  const { mirrorExtension } = await import('@skillstead/mirror/extension')
  const location = toStoreLocation(given, make ? { make: makePrivateFolder } : {})
  const own = {
    extensions: [mirrorExtension, maintenanceExtension()],
    onError: createErrorLog(given.io),
    defaultPlan: nodeDefaultPlan,
  }
  const registry = await openRegistry({ ...location, ...shortLived, ...own, ...parts })
  try {
    return await work(registry)
  } finally {
    await registry.close()
  }
}

interface CallerOptions extends OpenOptions {
  /** The user to act as, for a registry in a folder. */
  readonly as?: string
  /** The caller for a registry in a folder if no user is named. Default: the operator. */
  readonly otherwise?: Caller
  /** Token that identifies the calling agent. */
  readonly agentToken?: string
  /** The owner for whom a CI job publishes with its own token, if there is no key; null if the command names none. */
  readonly ci?: string | null
  /** Whether the command installs what it reads. */
  readonly installs?: boolean
}

/** Whether a command may report what it does: not if the user opted out (https://consoledonottrack.com). */
function mayReport({ io: { env } }: Arguments): boolean {
  return ['SKILLSTEAD_NO_TRACK', 'DO_NOT_TRACK'].every((name) => /^(?:0|false)?$/i.test(readVariable(env, name) ?? ''))
}

/** The API of a node over HTTP, through the proxy of the environment. Throws {@link UsageError} for an invalid proxy. */
export function connectToNode(options: Omit<Parameters<typeof createClient>[0], 'client'>): RegistryApi {
  useProxyOfEnvironment()
  return createClient({ ...options, client: 'skillstead' })
}

/**
 * Runs `work` with the API that the options name: a node over HTTP as the user of the key, or in-process as the
 * operator or as the user of `as`. For an in-process registry `work` also gets the registry.
 */
export async function withApi<T>(
  given: Arguments,
  work: (api: RegistryApi, at?: { registry: Registry; caller: Caller }) => Promise<T>,
  options: CallerOptions = {},
): Promise<T> {
  const found = findNode(given)
  const node = found && options.ci !== undefined ? await withCiKey(given.io, found, options.ci) : found
  const { agentToken, installs = false } = options
  const reports = mayReport(given)
  if (node) {
    sayWhichCounts(given, node.baseUrl)
    const counting = reports ? { installs } : ({ counts: false } as const)
    const client = connectToNode({ ...node, agentToken, ...counting })
    return node.apiKey === undefined ? withoutLogin(node.baseUrl, () => work(client)) : work(client)
  }
  if (isNowhere(given))
    throw new UsageError(
      'The registry is missing. Pass --url URL, --data DIR or --database-url URL, or log in: skillstead login --url URL.',
    )
  return withRegistry(
    given,
    async (registry) => {
      const { localApi, systemCaller } = await import('@skillstead/core')
      const caller =
        options.as === undefined ? (options.otherwise ?? systemCaller) : await registry.getCaller(options.as)
      const counting = { counts: reports, kind: installs ? 'cli' : 'api' } as const
      return work(localApi(registry, caller, { agentToken, ...counting }), { registry, caller })
    },
    options,
  )
}

/** Says that the login is used instead of DATABASE_URL, which the caller may have meant. */
function sayWhichCounts(given: Arguments, login: string): void {
  const { env, stderr } = given.io
  const isByLogin = textOption(given, 'url') === undefined && readVariable(env, 'SKILLSTEAD_URL') === undefined
  if (!isByLogin || readVariable(env, 'DATABASE_URL') === undefined) return
  stderr.write(`The node of your login, ${login}, is used, not DATABASE_URL: pass --database-url for that.\n`)
}

/** Runs `work`. If a guest lacks a permission, the error advises to log in. */
async function withoutLogin<T>(baseUrl: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isRegistryError(error, 'unauthorized')) throw error
    const advice = `You are not logged in to ${baseUrl}. Run \`skillstead login --url ${baseUrl}\`, or pass --key.`
    throw new RegistryError('unauthorized', advice, { cause: error })
  }
}

/** The user to act as on a registry in a folder, where the operator could not own anything. */
export const userOption: Options = {
  user: { value: 'NAME', help: 'the user to act as, with --data' },
}

/** The user to act as on a registry in a folder. Throws {@link UsageError} if none is named. */
export function requireActingUser(given: Arguments, advice: string): string | undefined {
  const user = textOption(given, 'user')
  if (user === undefined && findUrl(given) === undefined) throw new UsageError(advice)
  return user
}

/**
 * The URL of the node that a command works on; undefined for a registry in a folder or database. Options win over
 * environment variables, and DATABASE_URL comes last: in a project's folder it names the project's own database.
 */
export function findUrl(given: Arguments): string | undefined {
  const url = textOption(given, 'url')
  const stored = ['data', 'database-url'].find((option) => textOption(given, option) !== undefined)
  if (url !== undefined && stored !== undefined) throw new UsageError(`Pass --url or --${stored}, not both.`)
  if (url !== undefined) return requireNodeUrl(url)
  if (stored !== undefined) return undefined
  const named = readVariable(given.io.env, 'SKILLSTEAD_URL')
  return named === undefined ? findCurrentNode(given.io.env) : requireNodeUrl(named)
}

/** The node that a command works on and its API key: from the options, the environment, or the login. */
export function findNode(given: Arguments, keyOption = 'key'): { baseUrl: string; apiKey?: string } | undefined {
  const baseUrl = findUrl(given)
  if (baseUrl === undefined) return undefined
  return { baseUrl, apiKey: textOption(given, keyOption) ?? findCredential(given.io.env, baseUrl)?.key }
}

/**
 * Checks only the form of a database URL; errors do not show it, because it may have a password. `from`: the options
 * that can contain the URL.
 */
export function requireDatabase(url: string, from: string): string {
  if (/^postgres(?:ql)?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new UsageError(
    `The database URL (${from}) cannot be read. Use the form ` +
      'postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %40 for an @ in the password.',
  )
}

function requireNodeUrl(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address && /^https?:$/.test(address.protocol) && address.username === '') return url
  throw new UsageError(`'${url}' is not the URL of a node. Use the form https://HOST.`)
}

function isNowhere(given: Arguments): boolean {
  if (readVariable(given.io.env, 'DATABASE_URL') !== undefined) return false
  return [textOption(given, 'data'), textOption(given, 'database-url')].every((one) => one === undefined)
}
