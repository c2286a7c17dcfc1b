import { planNames, toMarketplaceName, type PlanName } from '@skillstead/protocol'
import { command, flag, textOption } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'
import { placeOptions, withApi } from '../../registry/place.ts'
import { newKeyOptions, toExpiry, toNewKey } from '../account/keys.ts'

export const commands = {
  'users create': command({
    description: 'Create a user with a first API key. The first user of a node becomes its administrator.',
    words: ['NAME'],
    options: {
      plan: {
        value: 'PLAN',
        help: "the plan of the user. Default: the node's default; enterprise for the first user",
        choices: planNames,
      },
      admin: { help: 'make the new user an administrator' },
      ...placeOptions,
    },
    async run(given) {
      const role = flag(given, 'admin') ? 'admin' : undefined
      const input = { username: given.words[0], plan: textOption<PlanName>(given, 'plan'), role } as const
      const { key, keyExpiresAt, ...user } = await withApi(given, (api) => api.createUser(input), { make: true })
      return { user, key, ...(keyExpiresAt && { keyExpiresAt }) }
    },
    show: ({ user, key, keyExpiresAt }) => [
      `Created ${user.username}, ${user.role} on the ${user.plan} plan. The first API key, shown only once:`,
      key,
      ...toExpiry(keyExpiresAt),
      ...toMarketplaceLines(user.username),
    ],
  }),
  'users list': endpointList('listUsers', {
    description: 'List the users of a node by name.',
    rows: 'users',
    toLines: ({ username, plan, role, claimed, disabled }) =>
      `${username}  ${plan}  ${role}${claimed ? '' : '  (imported, has no key)'}${disabled ? '  (disabled)' : ''}`,
  }),
  'users set-plan': endpointCommand('updateUser', {
    description: "Change a user's plan.",
    words: { NAME: 'username', PLAN: 'plan' },
    show: (user) => [`${user.username} is on the ${user.plan} plan.`],
  }),
  'users key': apiCommand({
    description: 'Issue an API key for a user who lost theirs. It is shown only once; the other keys keep working.',
    words: ['NAME'],
    options: {
      'key-name': { value: 'NAME', help: 'the name of the key. Default: issued by an administrator' },
      ...newKeyOptions,
    },
    async call(api, given) {
      const [username] = given.words
      return {
        username,
        ...(await api.issueKey({ username, name: textOption(given, 'key-name'), ...toNewKey(given) })),
      }
    },
    show: ({ username, key, expiresAt }) => [
      `An API key for ${username}, shown only once:`,
      key,
      ...toExpiry(expiresAt),
    ],
  }),
  'users disable': endpointCommand('updateUser', {
    description: 'Disable a user: keys and sessions stop working at once; published skills stay.',
    words: { NAME: 'username' },
    fixed: { disabled: true },
    show: ({ username }) => [`${username} is disabled. Undo with \`skillstead users enable ${username}\`.`],
  }),
  'users enable': endpointCommand('updateUser', {
    description: 'Enable a disabled user; the earlier API keys work again.',
    words: { NAME: 'username' },
    fixed: { disabled: false },
    show: ({ username }) => [`${username} can sign in again.`],
  }),
}

/** Warns of a username that differs from the name of the user's marketplace. */
function toMarketplaceLines(username: string): string[] {
  const marketplace = toMarketplaceName(username)
  if (marketplace === username) return []
  return [
    `Claude Code reserves the marketplace name '${username}'. The marketplace of this user has the name '${marketplace}'.`,
  ]
}
