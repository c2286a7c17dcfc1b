import type { Me } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { findUrl, placeOptions, requireUser, userOption, withApi } from '../place.ts'

/** `skillstead whoami`. */
export const whoami: Command<Me & { readonly node: string | null }> = {
  summary: 'Show the user whose API key is in use, and the node.',
  words: [],
  options: { ...userOption, ...placeOptions },
  async run(given) {
    const as = requireUser(given, 'The user is missing. Pass --user NAME.')
    const me = await withApi(given, (api) => api.getMe(), { as })
    return { ...me, node: findUrl(given) ?? text(given, 'data') ?? null }
  },
  show: ({ username, plan, role, node }) => [
    `${username}, ${role === 'admin' ? 'administrator' : 'user'} on the ${plan} plan${node === null ? '' : `, at ${node}`}`,
  ],
}
