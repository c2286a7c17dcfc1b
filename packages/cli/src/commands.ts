import type { Command } from './command.ts'

/** Every command by its words; each is loaded when it is asked for, so that a short one stays short. */
export const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.ts')).start,
  serve: async () => (await import('./commands/serve.ts')).serve,
  examples: async () => (await import('./commands/examples.ts')).examples,
  import: async () => (await import('./commands/import.ts')).importSkills,
  publish: async () => (await import('./commands/publish.ts')).publish,
  search: async () => (await import('./commands/search.ts')).search,
  show: async () => (await import('./commands/show.ts')).show,
  'keys create': async () => (await import('./commands/keys.ts')).createKey,
  'keys list': async () => (await import('./commands/keys.ts')).listKeys,
  'keys revoke': async () => (await import('./commands/keys.ts')).revokeKey,
  'users create': async () => (await import('./commands/users.ts')).createUser,
  'users list': async () => (await import('./commands/users.ts')).listUsers,
  'users set-plan': async () => (await import('./commands/users.ts')).setPlan,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
}

/** What the list of commands says of each, without loading any. */
export const summaries: Record<keyof typeof commands, string> = {
  start: 'serve from the current folder, with example skills and a first administrator',
  serve: 'serve a registry',
  examples: 'publish the example skills',
  import: 'import a folder of skills, a zip, or .ndjson[.gz] records',
  publish: 'publish a skill from its folder, zip or SKILL.md',
  search: 'search skills',
  show: 'show a skill',
  'keys create': 'make an API key',
  'keys list': 'list API keys',
  'keys revoke': 'delete an API key',
  'users create': 'make a user with a first key',
  'users list': 'list the users of a node',
  'users set-plan': "change a user's plan",
  doctor: 'check a registry and the machine under it',
}
