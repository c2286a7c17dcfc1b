import { planNames, type PlanName, type User } from '@skillstead/protocol'
import { UsageError, flag, text, type Command } from '../command.ts'
import { placeOptions, withApi } from '../place.ts'

/** `skillstead users create NAME`. */
export const createUser: Command<{ user: User; key: string }> = {
  summary: 'Makes a user with a first key. The first user of a node becomes its administrator.',
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
    `Made ${user.username}, ${user.role} on the ${user.plan} plan. The first key, shown this once:`,
    key,
  ],
}

/** `skillstead users list`. */
export const listUsers: Command<{ users: User[]; total: number }> = {
  summary: 'Lists the users of a node by name.',
  words: [],
  options: { page: { value: 'N', help: 'which page of a hundred' }, ...placeOptions },
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
  summary: "Changes a user's plan.",
  words: ['NAME', 'PLAN'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.updateUser({ username: given.words[0]!, plan: toPlan(given.words[1]) })),
  show: (user) => [`${user.username} is on the ${user.plan} plan.`],
}

function toPlan(given: string | undefined): PlanName | undefined {
  const plan = planNames.find((name) => name === given)
  if (given !== undefined && !plan) throw new UsageError(`'${given}' is no plan; there are ${planNames.join(', ')}.`)
  return plan
}
