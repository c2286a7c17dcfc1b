import { scopes, type Scope } from '@skillstead/protocol'
import { UsageError, list, text, type Arguments, type Options } from '../command/command.ts'
import { apiCommand } from '../registry/api-command.ts'

const owner = {
  actor: 'owner of the keys',
  options: { user: { value: 'NAME', help: 'the owner of the keys, with --data' } },
}

/** Options of a new key. */
export const newKeyOptions: Options = {
  scopes: { value: 'LIST', help: `any of ${scopes.join(',')}. Default: all` },
  'expires-in-days': { value: 'N', help: 'the number of days until the key expires. Default: never' },
}

export const commands = {
  'keys create': apiCommand({
    description: 'Create an API key. It is shown only once.',
    words: ['NAME'],
    actor: owner.actor,
    options: { ...newKeyOptions, ...owner.options },
    call: (api, given) => api.createApiKey({ name: given.words[0], ...toNewKey(given) }),
    show: ({ name, key }) => [`Key '${name}', shown only once:`, key],
  }),
  'keys list': apiCommand({
    description: 'List API keys, without their secrets.',
    ...owner,
    call: (api) => api.listApiKeys({ limit: 100 }),
    show: ({ apiKeys }) =>
      apiKeys.map(
        (key) => `${key.id}  ${key.prefix}…  ${key.name}  ${key.scopes.join(',')}  ${key.lastUsedAt ?? 'never used'}`,
      ),
  }),
  'keys revoke': apiCommand({
    description: 'Delete an API key; it stops working at once.',
    words: ['ID'],
    ...owner,
    call: (api, { words: [id] }) => api.deleteApiKey({ id }).then(() => ({ revoked: id })),
    show: ({ revoked }) => [`Revoked ${revoked}.`],
  }),
}

/** Reads {@link newKeyOptions}. Throws {@link UsageError}. */
export function toNewKey(given: Arguments): { scopes?: Scope[]; expiresInDays?: string } {
  const names = list(given, 'scopes')
  const unknown = names?.find((name) => !scopes.includes(name as Scope))
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not a scope. Use any of ${scopes.join(', ')}.`)
  return { scopes: names as Scope[] | undefined, expiresInDays: text(given, 'expires-in-days') }
}
