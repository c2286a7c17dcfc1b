import { isLoopbackHost, toOneLine } from '@skillstead/protocol'
import os from 'node:os'
import { UsageError, command, flag, textOption, type Arguments, type Options } from '../../command/command.ts'
import { toNodeAddress } from '../../files/config.ts'
import { credentialsFile, dropCredential, keepCredential } from '../../registry/credentials.ts'
import { connectToNode, findUrl, storeOptions } from '../../registry/place.ts'
import { loginByDevice } from '../../registry/device-login.ts'
import { askKey } from '../../terminal/ask-key.ts'
import { openBrowser } from '../../terminal/open-browser.ts'
import type { Output } from '../../terminal/output.ts'

const options: Options = {
  url: { value: 'URL', help: 'the node (or SKILLSTEAD_URL, or the one that you are logged in to)' },
  ...storeOptions,
}

export const commands = {
  login: command({
    description:
      'Sign in to a node: a page of the node asks for a code that the command prints, and the new API key is saved in a ' +
      'file that only you can read. The node becomes the default of all commands. With --key the command prompts for a ' +
      'key that you have; if standard input is not a terminal, the command reads the key from there.',
    words: ['[URL]'],
    options: { ...options, key: { help: 'save an API key that you have, instead of signing in by the browser' } },
    async run(given, output) {
      const [word] = given.words
      const url = requireNode(given, 'The node is missing. Usage: skillstead login URL.', word)
      const place = toNodeAddress(url)
      if (!isSafe(place))
        output.say(`The connection to ${place} is not encrypted: others on the network can read your key.`)
      const isByDevice = given.io.stdin.isTTY && !flag(given, 'key')
      const key = isByDevice ? await askBrowser(given, place, output) : await askKey(given.io, place)
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

/** Signs in on a page of the node. Returns the new key. */
function askBrowser({ io }: Arguments, place: string, output: Output): Promise<string> {
  return loginByDevice(place, `skillstead on ${os.hostname()}`, {
    signal: io.interruption(),
    show({ address, code }) {
      output.say(`Open ${address} and enter the code ${code}. It is valid for 10 minutes.`)
      openBrowser(io, address)
    },
  })
}

function requireNode(given: Arguments, advice: string, word?: string): string {
  if (textOption(given, 'data') !== undefined || textOption(given, 'database-url') !== undefined)
    throw new UsageError('A registry in a folder needs no login: users who can read its files have full access.')
  const url = findUrl(word === undefined ? given : { ...given, options: { ...given.options, url: word } })
  if (url === undefined) throw new UsageError(advice)
  return url
}

function isSafe(place: string): boolean {
  const url = new URL(place)
  return url.protocol === 'https:' || isLoopbackHost(url)
}
