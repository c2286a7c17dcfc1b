import { createClient } from '@skillstead/client'
import { askKey } from '../ask-key.ts'
import { UsageError, text, type Arguments, type Command, type Option } from '../command.ts'
import { toNodeAddress } from '../config.ts'
import { credentialsFile, dropCredential, keepCredential } from '../credentials.ts'
import { toOneLine } from '../output.ts'
import { findUrl, storeOptions } from '../place.ts'

const options: Record<string, Option> = {
  url: { value: 'URL', help: 'the node (or SKILLSTEAD_URL, or the one that you are logged in to)' },
  ...storeOptions,
}

interface Login {
  readonly url: string
  readonly username: string
}

/** `skillstead login --url URL`. */
export const login: Command<Login> = {
  summary:
    'Keeps your API key for a node in a file that only you can read, and works on that node from now on where no other is named. ' +
    'The key is asked for at a terminal, and read from standard input otherwise.',
  words: [],
  options,
  async run(given, output) {
    const url = requireNode(given, 'Say which node: skillstead login --url URL.')
    const place = toNodeAddress(url)
    if (!isSafe(place)) output.say(`${place} is reached without encryption: others on the way can read your key.`)
    const key = await askKey(given.io, place)
    const { username } = await createClient({ baseUrl: url, apiKey: key, client: 'skillstead' }).getMe()
    keepCredential(given.io.env, url, { key, username })
    return { url: place, username }
  },
  show: ({ url, username }, { env }) => [
    `You are ${toOneLine(username)} at ${url}, which commands work on from now on.`,
    `The key is in ${credentialsFile(env)}.`,
  ],
}

interface Logout {
  readonly url: string
  readonly username: string | null
}

/** `skillstead logout`. */
export const logout: Command<Logout> = {
  summary: 'Forgets your API key for a node. The key goes on to be valid: `skillstead keys revoke` ends it.',
  words: [],
  options,
  async run(given) {
    const url = requireNode(given, 'You are logged in nowhere; say which node: skillstead logout --url URL.')
    return { url: toNodeAddress(url), username: dropCredential(given.io.env, url)?.username ?? null }
  },
  show: ({ url, username }) => [
    username === null
      ? `You were not logged in to ${url}.`
      : `The key of ${toOneLine(username)} for ${url} is forgotten here. It is valid until \`skillstead keys revoke\` ends it.`,
  ],
}

function requireNode(given: Arguments, advice: string): string {
  if (text(given, 'data') !== undefined || text(given, 'database-url') !== undefined)
    throw new UsageError('A registry on files needs no login: whoever can read them may do everything.')
  const url = findUrl(given)
  if (url === undefined) throw new UsageError(advice)
  return url
}

function isSafe(place: string): boolean {
  const { protocol, hostname } = new URL(place)
  return protocol === 'https:' || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}
