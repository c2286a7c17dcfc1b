import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import type { Caller, Registry, RegistryOptions } from '@skillstead/core'
import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import { UsageError, text, type Arguments, type Option } from './command.ts'
import { findCredential, findCurrentNode } from './credentials.ts'
import { createErrorLog } from './output.ts'

/** Where the registry is that a command works on: files or a database. */
export const storeOptions: Record<string, Option> = {
  data: { value: 'DIR', help: 'the folder that holds the registry' },
  'database-url': { value: 'URL', help: 'a PostgreSQL database instead (or DATABASE_URL)' },
}

/** As {@link storeOptions}, or a node that runs somewhere. */
export const placeOptions: Record<string, Option> = {
  url: { value: 'URL', help: 'a running node (or SKILLSTEAD_URL, or the one that you are logged in to)' },
  key: {
    value: 'KEY',
    help: 'the API key for it (or SKILLSTEAD_KEY, or the one of your login)',
    env: 'SKILLSTEAD_KEY',
  },
  ...storeOptions,
}

/** What a short command needs of a registry that it opens: no search in memory, no work from the outbox. */
const shortLived = { works: false, memorySkillsMax: 0 }

/** The database that the options name. `make` makes a folder that is not there. */
export function toLocation(
  given: Arguments,
  { make }: { make?: (folder: string) => void } = {},
): Pick<RegistryOptions, 'path' | 'databaseUrl'> {
  const data = text(given, 'data')
  const databaseUrl = text(given, 'database-url') ?? (given.io.env['DATABASE_URL'] || undefined)
  if (data === undefined) {
    if (databaseUrl !== undefined) return { databaseUrl }
    throw new UsageError('Say where the registry is: --data DIR or --database-url URL.')
  }
  const path = join(data, 'skillstead.db')
  if (!make && !existsSync(path)) throw new Error(`There is no registry in ${data}.`)
  make?.(data)
  return { path }
}

interface OpenOptions extends Pick<RegistryOptions, 'origin' | 'outgoing' | 'scanPolicy' | 'secretKey'> {
  /** Whether a folder that is not there is made. */
  readonly make?: boolean
}

/**
 * Opens the registry that the options name for the length of some work. Only then its code is loaded, which takes most of
 * the time of a short command.
 */
export async function withRegistry<T>(
  given: Arguments,
  work: (registry: Registry) => Promise<T>,
  { make, ...parts }: OpenOptions = {},
): Promise<T> {
  const { makePrivateFolder, openRegistry } = await import('@skillstead/core')
  const { mirrorExtension } = await import('@skillstead/mirror/extension')
  const location = toLocation(given, make ? { make: makePrivateFolder } : {})
  const own = { extensions: [mirrorExtension], onError: createErrorLog(given.io) }
  const registry = await openRegistry({ ...location, ...shortLived, ...own, ...parts })
  try {
    return await work(registry)
  } finally {
    await registry.close()
  }
}

interface CallerOptions extends OpenOptions {
  /** The user to be on files. */
  readonly as?: string
  /** Who to be on files where no user is named: the operator unless it is said. */
  readonly otherwise?: Caller
  /** Proves which agent calls. */
  readonly agentToken?: string
}

/**
 * The API that the options name: a node's over HTTP with the key's user, or in-process on files as the operator, or as
 * the user that `as` names. `work` is told which registry it is where it is on files.
 */
export async function withApi<T>(
  given: Arguments,
  work: (api: RegistryApi, at?: { registry: Registry; caller: Caller }) => Promise<T>,
  options: CallerOptions = {},
): Promise<T> {
  const node = findNode(given)
  if (node) {
    const client = createClient({ ...node, agentToken: options.agentToken, client: 'skillstead' })
    return node.apiKey === undefined ? withoutLogin(node.baseUrl, () => work(client)) : work(client)
  }
  if (isNowhere(given))
    throw new UsageError(
      'Say where the registry is: --url URL, --data DIR or --database-url URL, or log in: skillstead login --url URL.',
    )
  return withRegistry(
    given,
    async (registry) => {
      const { localApi, systemCaller } = await import('@skillstead/core')
      const caller =
        options.as === undefined ? (options.otherwise ?? systemCaller) : await registry.getCaller(options.as)
      return work(localApi(registry, caller, { agentToken: options.agentToken }), { registry, caller })
    },
    options,
  )
}

/** What a guest may not do, a login may. */
async function withoutLogin<T>(baseUrl: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'unauthorized') throw error
    const advice = `You are not logged in to ${baseUrl}. Run \`skillstead login --url ${baseUrl}\`, or pass --key.`
    throw new RegistryError('unauthorized', advice, { cause: error })
  }
}

/** Whom a command acts as on files, where the operator would own nothing. */
export const userOption: Record<string, Option> = {
  user: { value: 'NAME', help: 'the user to act as, with --data' },
}

/** The user that a command on files acts as: the operator owns nothing. Throws {@link UsageError} where none is named. */
export function requireUser(given: Arguments, advice: string): string | undefined {
  const user = text(given, 'user')
  if (user === undefined && findUrl(given) === undefined) throw new UsageError(advice)
  return user
}

/**
 * The address of the node that a command works on; undefined where it works on files. What is said goes before what is
 * set, and DATABASE_URL comes last: in a project's folder it names the project's own database.
 */
export function findUrl(given: Arguments): string | undefined {
  const url = text(given, 'url')
  const stored = ['data', 'database-url'].find((option) => text(given, option) !== undefined)
  if (url !== undefined && stored !== undefined) throw new UsageError(`Give --url or --${stored}, not both.`)
  if (url !== undefined) return requireAddress(url)
  if (stored !== undefined) return undefined
  const { env } = given.io
  return env['SKILLSTEAD_URL'] ? requireAddress(env['SKILLSTEAD_URL']) : findCurrentNode(env)
}

/** The node that a command works on, with the key for it: the one that is said or set, or that of the login. */
export function findNode(given: Arguments, keyOption = 'key'): { baseUrl: string; apiKey?: string } | undefined {
  const baseUrl = findUrl(given)
  if (baseUrl === undefined) return undefined
  return { baseUrl, apiKey: text(given, keyOption) ?? findCredential(given.io.env, baseUrl)?.key }
}

function requireAddress(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address && /^https?:$/.test(address.protocol) && address.username === '') return url
  throw new UsageError(`'${url}' is not an address of a node: write it as https://HOST.`)
}

function isNowhere(given: Arguments): boolean {
  if (given.io.env['DATABASE_URL']) return false
  return [text(given, 'data'), text(given, 'database-url')].every((one) => one === undefined)
}
