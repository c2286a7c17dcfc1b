import type { LinkedAccount } from '@skillstead/mirror'
import { askKey } from '../ask-key.ts'
import { UsageError, text, type Arguments, type Command, type Option } from '../command.ts'
import { askingOptions } from '../mirror/options.ts'
import { withMirror } from '../mirror/with-mirror.ts'
import { storeOptions } from '../place.ts'

const userOption: Record<string, Option> = { user: { value: 'USER', help: 'the user of this registry' } }

/** `skillstead mirror link NAME --user USER`. */
export const linkUser: Command<Omit<LinkedAccount, 'createdAt'>> = {
  summary: 'Keeps the key that a user has upstream, encrypted: what the user does here is done there with it.',
  words: ['NAME'],
  options: {
    ...userOption,
    'upstream-key': {
      value: 'KEY',
      help: 'the API key of the user there; asked for, or read from standard input, unless it is said',
    },
    ...askingOptions,
    ...storeOptions,
  },
  async run(given) {
    const [name] = given.words as [string]
    const user = requireUser(given)
    return withMirror(given, async (mirror, registry) => {
      // Nobody types a key for nothing.
      await registry.getCaller(user)
      const [upstream] = await mirror.status(name)
      const key = text(given, 'upstream-key') ?? (await askKey(given.io, upstream!.location))
      const { createdAt: _, ...account } = await mirror.accounts.link(user, name, key)
      return account
    })
  },
  show: ({ user, upstream, username }) => [
    username === null
      ? `The key of ${user} for ${upstream} is kept; whose it is shows when ${upstream} answers.`
      : `${user} is ${username} at ${upstream}.`,
  ],
}

/** `skillstead mirror unlink NAME --user USER`. */
export const unlinkUser: Command<{ user: string; upstream: string }> = {
  summary: 'Forgets the key that a user has upstream. What waits with it waits until it is linked again, or dropped.',
  words: ['NAME'],
  options: { ...userOption, ...storeOptions },
  async run(given) {
    const [upstream] = given.words as [string]
    const user = requireUser(given)
    await withMirror(given, (mirror) => mirror.accounts.unlink(user, upstream))
    return { user, upstream }
  },
  show: ({ user, upstream }) => [`The key of ${user} for ${upstream} is forgotten here. It goes on being good there.`],
}

function requireUser(given: Arguments): string {
  const user = text(given, 'user')
  if (user === undefined) throw new UsageError('Say whose key it is: --user USER.')
  return user
}
