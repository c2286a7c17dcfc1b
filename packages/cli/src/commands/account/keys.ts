import { scopes, type Scope, toOneLine } from '@skillstead/protocol'
import { flag, textOption, type Arguments, type Options } from '../../command/command.ts'
import { choicesOption } from '../../command/values.ts'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { apiCommand } from '../../registry/api-command.ts'

const owner = {
  actor: 'owner of the keys',
  options: { user: { value: 'NAME', help: 'the owner of the keys, with --data' } },
}

/** Default scopes and lifetime for `keys create`: enough for a program, and little risk if the key is forgotten. */
const safeKey = { scopes: ['read', 'publish'] satisfies Scope[], expiresInDays: '90' }

/** Options of a new key. */
export const newKeyOptions: Options = {
  scopes: { value: 'LIST', help: `any of ${scopes.join(',')}. Default: all` },
  'expires-in-days': {
    value: 'N',
    help: 'the number of days until the key expires, at most as long as the key in use. Default: as long',
  },
}

export const commands = {
  'keys create': apiCommand({
    description:
      'Create an API key for a program. It is shown only once. Without --scopes it can neither make other keys nor delete ' +
      'or share skills.',
    words: ['NAME'],
    actor: owner.actor,
    options: {
      scopes: {
        value: 'LIST',
        help: `what the key may do: any of ${scopes.join(',')}. Default: ${safeKey.scopes.join(',')}`,
      },
      'expires-in-days': {
        value: 'N',
        help: `the number of days until the key expires, at most as long as the key in use. Default: ${safeKey.expiresInDays}`,
      },
      'limited-to': { value: 'OWNER|SKILL', help: 'publish only to this owner, or only this skill (OWNER/NAME)' },
      ...owner.options,
    },
    call(api, given) {
      const { scopes: wanted = safeKey.scopes, expiresInDays = safeKey.expiresInDays } = toNewKey(given)
      const limitedTo = textOption(given, 'limited-to')
      return api.createApiKey({
        name: given.words[0],
        scopes: wanted,
        expiresInDays,
        ...(limitedTo !== undefined && { limitedTo }),
      })
    },
    show: ({ name, key, scopes: granted, expiresAt }) => [
      `Key '${name}' (${granted.join(', ')}), shown only once:`,
      key,
      ...toExpiry(expiresAt),
    ],
  }),
  'keys list': endpointCommand('listApiKeys', {
    description: 'List API keys, without their secrets.',
    ...owner,
    fixed: { limit: 100 },
    show: ({ apiKeys }) =>
      apiKeys.map(
        (key) =>
          `${toKeyLine(key)}  ${key.scopes.join(',')}  ${key.lastUsedAt ?? 'never used'}` +
          (key.expiresAt === null ? '' : `  expires ${key.expiresAt}`) +
          (key.limitedTo ? `  only ${key.limitedTo}` : '') +
          (key.madeBy ? `  made by ${key.madeBy}` : ''),
      ),
  }),
  'keys revoke': apiCommand({
    description: 'Delete an API key, by its name or id; it stops working at once.',
    words: ['KEY'],
    actor: owner.actor,
    options: {
      'with-made': { help: 'also revoke the keys and share links that the key made, directly or through other keys' },
      ...owner.options,
    },
    async call(api, given) {
      const [word] = given.words
      // One page lists all keys of a user. A list that cannot be read must not prevent the revocation of a key.
      const listed = await api.listApiKeys({ limit: 100 }).catch(() => undefined)
      const apiKeys = listed?.apiKeys ?? []
      const id = findKeyId(apiKeys, word)
      if (listed !== undefined && !apiKeys.some((key) => key.id === id))
        throw new Error(
          `You have no API key with the name or id '${toOneLine(word)}'. List them: skillstead keys list.`,
        )
      const withMade = flag(given, 'with-made')
      await api.deleteApiKey({ id, ...(withMade && { withMade }) })
      const made = apiKeys.find((key) => key.id === id)?.made ?? 0
      return { revoked: id, withMade, made, madeKeys: apiKeys.filter(({ madeBy }) => madeBy === id) }
    },
    show({ revoked, withMade, made, madeKeys }) {
      if (made === 0) return [`Revoked ${revoked}.`]
      const what = made === 1 ? 'the key or share link' : `the ${made} keys and share links`
      if (withMade) return [`Revoked ${revoked}, ${what} that it made, and what those made.`]
      return [
        `Revoked ${revoked}. Without --with-made, ${what} that it made still ${made === 1 ? 'works' : 'work'}.`,
        ...madeKeys.map((key) => toKeyLine(key)),
      ]
    },
  }),
}

/**
 * The id of the key with this id or name; a word that is neither is taken for an id. Throws if several keys have the
 * name.
 */
function findKeyId(keys: readonly { readonly id: string; readonly name: string }[], word: string): string {
  if (keys.some(({ id }) => id === word)) return word
  const [found, ...others] = keys.filter(({ name }) => name === word).map(({ id }) => id)
  if (others.length === 0) return found ?? word
  throw new Error(`Several keys have the name '${word}'. Revoke one by its id: ${[found, ...others].join(', ')}.`)
}

function toKeyLine({ id, prefix, name }: { id: string; prefix: string; name: string }): string {
  return `${id}  ${prefix}…  ${name}`
}

/** A line with the expiry of a new key, which the key in use may have limited. */
export function toExpiry(expiresAt: string | null | undefined): string[] {
  return expiresAt ? [`It expires at ${expiresAt}.`] : []
}

/** Reads {@link newKeyOptions}. Throws {@link UsageError}. */
export function toNewKey(given: Arguments): { scopes?: Scope[]; expiresInDays?: string } {
  return {
    scopes: choicesOption(given, 'scopes', scopes, 'a scope'),
    expiresInDays: textOption(given, 'expires-in-days'),
  }
}
