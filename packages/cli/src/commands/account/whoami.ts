import { textOption } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { findUrl } from '../../registry/place.ts'

export const commands = {
  whoami: apiCommand({
    description: 'Show the user whose API key is in use, and the node.',
    actor: 'user',
    call: async (api, given) => ({ ...(await api.getMe()), node: findUrl(given) ?? textOption(given, 'data') ?? null }),
    show: ({ username, plan, role, node }) => [
      `${username}, ${role === 'admin' ? 'administrator' : 'user'} on the ${plan} plan${node === null ? '' : `, at ${node}`}`,
    ],
  }),
}
