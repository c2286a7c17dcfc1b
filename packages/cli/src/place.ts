import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { localApi, openRegistry, systemCaller, type Registry, type RegistryOptions } from '@skillstead/core'
import type { RegistryApi } from '@skillstead/protocol'
import { UsageError, text, type Arguments, type Option } from './command.ts'

/** Where the registry is that a command works on: files or a database. */
export const storeOptions: Record<string, Option> = {
  data: { value: 'DIR', help: 'the folder that holds the registry' },
  'database-url': { value: 'URL', help: 'a PostgreSQL database instead (or DATABASE_URL)', env: 'DATABASE_URL' },
}

/** As {@link storeOptions}, or a node that runs somewhere. */
export const placeOptions: Record<string, Option> = {
  url: { value: 'URL', help: 'a running node' },
  key: { value: 'KEY', help: 'the API key for it (or SKILLSTEAD_KEY)', env: 'SKILLSTEAD_KEY' },
  ...storeOptions,
}

/** What a short command needs of a registry that it opens: no search in memory, no work from the outbox. */
const shortLived = { works: false, memorySkillsMax: 0 }

/** The database that the options name. `make` says whether a folder that is not there is made. */
export function toLocation(given: Arguments, { make = false } = {}): Pick<RegistryOptions, 'path' | 'databaseUrl'> {
  const data = text(given, 'data')
  const databaseUrl = text(given, 'database-url')
  if (data === undefined) {
    if (databaseUrl !== undefined) return { databaseUrl }
    throw new UsageError('Say where the registry is: --data DIR or --database-url URL.')
  }
  const path = join(data, 'skillstead.db')
  if (!make && !existsSync(path)) throw new Error(`There is no registry in ${data}.`)
  if (make && !existsSync(data)) {
    mkdirSync(data, { recursive: true })
    // Keys' hashes and private skills lie there.
    chmodSync(data, 0o700)
  }
  return { path }
}

interface OpenOptions extends Pick<RegistryOptions, 'outgoing' | 'scanPolicy'> {
  /** Whether a folder that is not there is made. */
  readonly make?: boolean
}

/** Opens the registry that the options name for the length of some work. */
export async function withRegistry<T>(
  given: Arguments,
  work: (registry: Registry) => Promise<T>,
  { make, ...parts }: OpenOptions = {},
): Promise<T> {
  const registry = await openRegistry({ ...toLocation(given, { make }), ...shortLived, ...parts })
  try {
    return await work(registry)
  } finally {
    await registry.close()
  }
}

/**
 * The API that the options name: a node's over HTTP with the key's user, or in-process on files as the operator, or as
 * the user that `as` names.
 */
export async function withApi<T>(
  given: Arguments,
  work: (api: RegistryApi) => Promise<T>,
  options: OpenOptions & { as?: string } = {},
): Promise<T> {
  const url = text(given, 'url')
  if (url !== undefined) {
    if (!URL.canParse(url)) throw new UsageError(`'${url}' is not an address.`)
    return work(createClient({ baseUrl: url, apiKey: text(given, 'key'), client: 'skillstead' }))
  }
  return withRegistry(
    given,
    async (registry) => {
      const caller = options.as === undefined ? systemCaller : await registry.getCaller(options.as)
      return work(localApi(registry, caller))
    },
    options,
  )
}

/** The user that a command on files acts as: the operator owns nothing. Throws {@link UsageError} where none is named. */
export function requireUser(given: Arguments, advice: string): string | undefined {
  const user = text(given, 'user')
  if (user === undefined && text(given, 'url') === undefined) throw new UsageError(advice)
  return user
}
