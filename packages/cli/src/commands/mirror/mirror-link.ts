import { UsageError, command, textOption, type Arguments, type Options } from '../../command/command.ts'
import { askingOptions } from '../../mirror/options.ts'
import { withMirror } from '../../mirror/with-mirror.ts'
import { storeOptions } from '../../registry/place.ts'
import { askKey } from '../../terminal/ask-key.ts'

const linkedUserOption: Options = {
  user: { value: 'USER', help: 'the user of this registry whose upstream account is meant' },
}

export const commands = {
  'mirror link': command({
    description:
      "Save a user's upstream API key, encrypted. The user's writes on this mirror are sent upstream with it.",
    words: ['NAME'],
    options: {
      ...linkedUserOption,
      'upstream-key': {
        value: 'KEY',
        help: "the user's upstream API key. Default: a prompt, or standard input",
      },
      ...askingOptions,
      ...storeOptions,
    },
    async run(given) {
      const [name] = given.words
      const user = requireLinkedUser(given)
      return withMirror(given, async (mirror, registry) => {
        // Check the user first, so that the caller does not type a key for an unknown user.
        await registry.getCaller(user)
        const [upstream] = await mirror.status(name)
        const key = textOption(given, 'upstream-key') ?? (await askKey(given.io, upstream!.location))
        const { createdAt: _, ...account } = await mirror.accounts.link(user, name, key)
        return account
      })
    },
    show: ({ user, upstream, username }) => [
      username === null
        ? `Saved the key of ${user} for ${upstream}. The upstream did not respond; its account name is checked at the next sync.`
        : `${user} is ${username} at ${upstream}.`,
    ],
  }),
  'mirror unlink': command({
    description:
      "Remove a user's upstream API key. Pending writes stay until the user is linked again, or until they are dropped.",
    words: ['NAME'],
    options: { ...linkedUserOption, ...storeOptions },
    async run(given) {
      const [upstream] = given.words
      const user = requireLinkedUser(given)
      await withMirror(given, (mirror) => mirror.accounts.unlink(user, upstream))
      return { user, upstream }
    },
    show: ({ user, upstream }) => [`Removed the key of ${user} for ${upstream}. It stays valid on the upstream.`],
  }),
}

function requireLinkedUser(given: Arguments): string {
  const user = textOption(given, 'user')
  if (user === undefined) throw new UsageError('The user is missing. Pass --user USER.')
  return user
}
