import { toOneLine } from '@skillstead/protocol'
import { UsageError, command, textOption, type Arguments, type Options } from '../../command/command.ts'
import { toNodeAddress } from '../../files/config.ts'
import { credentialsFile, dropCredential, keepCredential } from '../../registry/credentials.ts'
import { connectToNode, findUrl, storeOptions } from '../../registry/place.ts'
import { askKey } from '../../terminal/ask-key.ts'

const options: Options = {
  url: { value: 'URL', help: 'the node (or SKILLSTEAD_URL, or the one that you are logged in to)' },
  ...storeOptions,
}

export const commands = {
  login: command({
    description:
      'Save your API key for a node in a file that only you can read, and make it the default node of all commands. ' +
      'The command prompts for the key on a terminal and reads it from standard input otherwise.',
    options,
    async run(given, output) {
      const url = requireNode(given, 'The node is missing. Usage: skillstead login --url URL.')
      const place = toNodeAddress(url)
      if (!isSafe(place))
        output.say(`The connection to ${place} is not encrypted: others on the network can read your key.`)
      const key = await askKey(given.io, place)
      const { username } = await connectToNode({ baseUrl: url, apiKey: key }).getMe()
      keepCredential(given.io.env, url, { key, username })
      return { url: place, username }
    },
    show: ({ url, username }, { env }) => [
      `Logged in to ${url} as ${toOneLine(username)}. Commands use this node by default from now on.`,
      `The key is saved in ${credentialsFile(env)}.`,
    ],
  }),
  logout: command({
    description: 'Remove your saved API key for a node. The key stays valid until `skillstead keys revoke`.',
    options,
    async run(given) {
      const url = requireNode(given, 'You are not logged in to any node. Usage: skillstead logout --url URL.')
      return { url: toNodeAddress(url), username: dropCredential(given.io.env, url)?.username ?? null }
    },
    show: ({ url, username }) => [
      username === null
        ? `You were not logged in to ${url}.`
        : `The key of ${toOneLine(username)} for ${url} was removed from this machine. It stays valid until \`skillstead keys revoke\`.`,
    ],
  }),
}

function requireNode(given: Arguments, advice: string): string {
  if (textOption(given, 'data') !== undefined || textOption(given, 'database-url') !== undefined)
    throw new UsageError('A registry in a folder needs no login: users who can read its files have full access.')
  const url = findUrl(given)
  if (url === undefined) throw new UsageError(advice)
  return url
}

function isSafe(place: string): boolean {
  const { protocol, hostname } = new URL(place)
  return protocol === 'https:' || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}
