import { scopes, type ApiKey, type Scope } from '@skillstead/protocol'
import { UsageError, text, type Arguments, type Command, type Option } from '../command.ts'
import { placeOptions, requireUser, withApi } from '../place.ts'

const options: Record<string, Option> = {
  user: { value: 'NAME', help: 'the owner of the keys, with --data' },
  ...placeOptions,
}

/** `skillstead keys create NAME`. */
export const createKey: Command<ApiKey & { key: string }> = {
  summary: 'Create an API key. It is shown only once.',
  words: ['NAME'],
  options: {
    scopes: { value: 'LIST', help: `any of ${scopes.join(',')}. Default: all` },
    'expires-in-days': { value: 'N', help: 'Default: never' },
    ...options,
  },
  run(given) {
    const input = {
      name: given.words[0]!,
      expiresInDays: text(given, 'expires-in-days'),
      scopes: toScopes(text(given, 'scopes')),
    }
    return withApi(given, (api) => api.createApiKey(input), { as: getUser(given) })
  },
  show: ({ name, key }) => [`Key '${name}', shown only once:`, key],
}

/** `skillstead keys list`. */
export const listKeys: Command<{ apiKeys: ApiKey[]; total: number }> = {
  summary: 'List API keys, without their secrets.',
  words: [],
  options,
  run: (given) => withApi(given, (api) => api.listApiKeys({ limit: 100 }), { as: getUser(given) }),
  show: ({ apiKeys }) =>
    apiKeys.map(
      (key) => `${key.id}  ${key.prefix}…  ${key.name}  ${key.scopes.join(',')}  ${key.lastUsedAt ?? 'never used'}`,
    ),
}

/** `skillstead keys revoke ID`. */
export const revokeKey: Command<{ revoked: string }> = {
  summary: 'Delete an API key; it stops working at once.',
  words: ['ID'],
  options,
  async run(given) {
    const [id] = given.words as [string]
    await withApi(given, (api) => api.deleteApiKey({ id }), { as: getUser(given) })
    return { revoked: id }
  },
  show: ({ revoked }) => [`Revoked ${revoked}.`],
}

function getUser(given: Arguments): string | undefined {
  return requireUser(given, 'The owner of the keys is missing. Pass --user NAME.')
}

/** Parses a comma-separated list of scopes. Throws {@link UsageError}. */
export function toScopes(list: string | undefined): Scope[] | undefined {
  const names = list?.split(',').map((name) => name.trim())
  const unknown = names?.find((name) => !scopes.includes(name as Scope))
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not a scope. Use any of ${scopes.join(', ')}.`)
  return names as Scope[] | undefined
}
