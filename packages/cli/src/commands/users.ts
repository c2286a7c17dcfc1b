import { planNames, scopes, type ApiKey, type PlanName, type User } from '@skillstead/protocol'
import { UsageError, flag, text, type Command } from '../command.ts'
import { placeOptions, withApi } from '../place.ts'
import { toScopes } from './keys.ts'

/** `skillstead users create NAME`. */
export const createUser: Command<{ user: User; key: string }> = {
  summary: 'Create a user with a first API key. The first user of a node becomes its administrator.',
  words: ['NAME'],
  options: {
    plan: { value: 'PLAN', help: planNames.join(', ') },
    admin: { help: 'an administrator' },
    ...placeOptions,
  },
  async run(given) {
    const input = {
      username: given.words[0]!,
      plan: toPlan(text(given, 'plan')),
      role: flag(given, 'admin') ? ('admin' as const) : undefined,
    }
    const { key, ...user } = await withApi(given, (api) => api.createUser(input), { make: true })
    return { user, key }
  },
  show: ({ user, key }) => [
    `Created ${user.username}, ${user.role} on the ${user.plan} plan. The first API key, shown only once:`,
    key,
  ],
}

/** `skillstead users list`. */
export const listUsers: Command<{ users: User[]; total: number }> = {
  summary: 'List the users of a node by name.',
  words: [],
  options: { page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' }, ...placeOptions },
  run: (given) => withApi(given, (api) => api.listUsers({ limit: 100, page: text(given, 'page') })),
  show: ({ users, total }) => [
    ...users.map(
      (user) =>
        `${user.username}  ${user.plan}  ${user.role}${user.claimed ? '' : '  (imported, nobody can sign in)'}${user.disabled ? '  (shut out)' : ''}`,
    ),
    `${users.length} of ${total}.`,
  ],
}

/** `skillstead users set-plan NAME PLAN`. */
export const setPlan: Command<User> = {
  summary: "Change a user's plan.",
  words: ['NAME', 'PLAN'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.updateUser({ username: given.words[0]!, plan: toPlan(given.words[1]) })),
  show: (user) => [`${user.username} is on the ${user.plan} plan.`],
}

/** `skillstead users disable NAME`. */
export const disableUser: Command<User> = {
  summary: 'Disable a user: keys and sessions stop working at once; published skills stay.',
  words: ['NAME'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.updateUser({ username: given.words[0]!, disabled: true })),
  show: ({ username }) => [`${username} is disabled. Undo with \`skillstead users enable ${username}\`.`],
}

/** `skillstead users enable NAME`. */
export const enableUser: Command<User> = {
  summary: 'Enable a disabled user; the earlier API keys work again.',
  words: ['NAME'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.updateUser({ username: given.words[0]!, disabled: false })),
  show: ({ username }) => [`${username} can sign in again.`],
}

/** `skillstead users key NAME`. */
export const issueKey: Command<ApiKey & { readonly username: string; readonly key: string }> = {
  summary: 'Issue an API key for a user who lost theirs. It is shown only once; the other keys keep working.',
  words: ['NAME'],
  options: {
    'key-name': { value: 'NAME', help: 'the name of the key. Default: issued by an administrator' },
    scopes: { value: 'LIST', help: `any of ${scopes.join(',')}. Default: all` },
    'expires-in-days': { value: 'N', help: 'Default: never' },
    ...placeOptions,
  },
  async run(given) {
    const [username] = given.words as [string]
    const issued = await withApi(given, (api) =>
      api.issueKey({
        username,
        name: text(given, 'key-name'),
        expiresInDays: text(given, 'expires-in-days'),
        scopes: toScopes(text(given, 'scopes')),
      }),
    )
    return { username, ...issued }
  },
  show: ({ username, key }) => [`An API key for ${username}, shown only once:`, key],
}

/** Parses the name of a plan. Throws {@link UsageError}. */
export function toPlan(given: string | undefined): PlanName | undefined {
  const plan = planNames.find((name) => name === given)
  if (given !== undefined && !plan)
    throw new UsageError(`'${given}' is not a plan. Use one of ${planNames.join(', ')}.`)
  return plan
}
