import type { Command, ListedCommand } from '../command/command.ts'

/** A module with commands, and a summary of each. `load` reads its code on use, so that short commands start fast. */
interface Module {
  readonly load: () => Promise<{ readonly commands: Readonly<Record<string, Command>> }>
  readonly summaries: Readonly<Record<string, string>>
}

const from = (load: Module['load'], summaries: Module['summaries']): Module => ({ load, summaries })

/** Summaries of nouns that are not commands themselves. */
export const nouns: Readonly<Record<string, string>> = {
  pack: 'collections of skills',
  webhooks: 'event notifications',
  keys: 'your API keys',
  sessions: 'browsers that are signed in',
  users: 'user accounts',
  org: 'organisations',
  policy: 'rules and approvals of an organisation',
  trust: 'CI jobs that publish without a key',
  external: 'skills of other registries',
  mirror: 'upstreams',
  bundle: 'a registry in one signed file',
  blobs: 'large files in a bucket',
  rules: 'signed scanner rules',
  quarantine: 'versions in quarantine',
  reports: 'reports of skills and appeals',
  skills: 'flag or hide a skill',
  verifications: 'author verification',
  dmca: 'takedown cases',
}

/** The modules of the commands by task, most common first, with a summary of each command. */
const groups: Readonly<Record<string, readonly Module[]>> = {
  'Find and use skills': [
    from(() => import('../commands/find/search.ts'), { search: 'search skills' }),
    from(() => import('../commands/find/show.ts'), { show: 'show a skill' }),
    from(() => import('../commands/find/load.ts'), { load: 'load a skill, or part of it, for an agent' }),
    from(() => import('../commands/find/plan.ts'), { plan: "fit skills into the size limit of an agent's list" }),
    from(() => import('../commands/find/diff.ts'), { diff: 'compare two versions of a skill' }),
    from(() => import('../commands/find/downloads.ts'), {
      downloads: 'show the downloads of a skill per day',
      installers: 'show which users installed your skill',
    }),
    from(() => import('../commands/find/star.ts'), { star: 'star a skill, or remove the star' }),
    from(() => import('../commands/find/pack.ts'), {
      'pack list': 'list packs of skills',
      'pack show': 'show a pack with its skills',
      'pack create': 'create a pack',
      'pack add': 'add skills to a pack',
      'pack remove': 'remove skills from a pack',
      'pack delete': 'delete a pack',
    }),
    from(() => import('../commands/find/requests.ts'), { requests: 'list skill requests' }),
  ],
  'Install skills': [
    from(() => import('../commands/install/install.ts'), {
      install: 'install skills for agents, or those in skills.lock',
    }),
    from(() => import('../commands/install/update.ts'), { update: 'update installed skills' }),
    from(() => import('../commands/install/outdated.ts'), {
      outdated: 'list installed skills with a newer version or a warning',
    }),
    from(() => import('../commands/install/list.ts'), { list: 'list installed skills and local changes' }),
    from(() => import('../commands/install/remove.ts'), { remove: 'remove installed skills' }),
    from(() => import('../commands/install/verify.ts'), {
      verify: 'verify installed skills, or the signature and content of one skill',
    }),
    from(() => import('../commands/install/sbom.ts'), {
      sbom: 'write the bill of materials of a skill, or of all installed skills',
    }),
    from(() => import('../commands/install/heartbeat.ts'), {
      heartbeat: 'check installed skills for updates and warnings',
    }),
    from(() => import('../commands/install/mcp.ts'), { mcp: 'serve MCP over standard input and output' }),
  ],
  'Write and publish': [
    from(() => import('../commands/write/init.ts'), { init: 'create a new skill' }),
    from(() => import('../commands/write/lint.ts'), { lint: 'check skills before publishing, without a registry' }),
    from(() => import('../commands/write/scan.ts'), { scan: 'scan skills for dangerous content, without a registry' }),
    from(() => import('../commands/write/eval.ts'), { eval: 'run the test cases of a skill with and without it' }),
    from(() => import('../commands/write/publish.ts'), {
      publish: 'publish a skill from its folder, zip or SKILL.md, or a plugin',
    }),
    from(() => import('../commands/write/withdraw.ts'), {
      yank: 'yank a version: no new installs',
      unyank: 'undo the yank of a version',
      recall: 'recall versions: clients and gateways refuse them',
      deprecate: 'mark a skill as deprecated',
    }),
    from(() => import('../commands/write/settings.ts'), {
      describe: 'change the description and other metadata of a skill',
      visibility: 'change who can see a skill',
      delete: 'delete a skill',
    }),
    from(() => import('../commands/write/sharing.ts'), {
      share: 'create a link to a private skill',
      invite: 'invite a user to read a skill or publish to it',
      accept: 'accept invitations and transfers',
      transfer: 'offer a skill to another user',
    }),
    from(() => import('../commands/write/fork.ts'), { fork: 'copy a skill to your own account' }),
    from(() => import('../commands/write/webhooks.ts'), {
      'webhooks list': 'list webhooks',
      'webhooks add': 'create a webhook',
      'webhooks show': 'show a webhook with its deliveries',
      'webhooks update': 'change, enable or disable a webhook',
      'webhooks remove': 'delete a webhook',
      'webhooks ping': 'send a test delivery',
      'webhooks retry': 'retry a delivery',
    }),
  ],
  'Your account': [
    from(() => import('../commands/account/login.ts'), {
      login: 'sign in to a node',
      logout: 'remove the saved API key for a node',
    }),
    from(() => import('../commands/account/whoami.ts'), { whoami: 'show the user whose key is in use' }),
    from(() => import('../commands/account/keys.ts'), {
      'keys create': 'create an API key',
      'keys list': 'list API keys',
      'keys revoke': 'delete an API key',
    }),
    from(() => import('../commands/account/sessions.ts'), {
      'sessions list': 'list the browsers in which you are signed in',
      'sessions end': 'sign a browser out',
    }),
    from(() => import('../commands/account/organisations.ts'), {
      'org create': 'create an organisation',
      'org list': 'list your organisations',
      'org show': 'show an organisation',
      'org members': 'list the members of an organisation',
      'org invite': 'invite a user, or change a role',
      'org accept': 'accept an invitation to an organisation',
      'org remove': 'remove a member, or leave',
      'org teams': 'list the teams of an organisation',
      'org team': 'create or change a team',
      'org delete': 'delete an organisation without skills',
    }),
    from(() => import('../commands/account/policies.ts'), {
      'policy show': 'show what is demanded of new versions',
      'policy set': 'set what is demanded of new versions',
      'policy test': 'list stored skills that break a policy',
    }),
    from(() => import('../commands/account/trust.ts'), {
      'trust list': 'list the CI jobs that may publish',
      'trust add': 'let CI jobs publish without a key',
      'trust remove': 'let CI jobs publish no longer',
    }),
    from(async () => ({ commands: (await import('./completion.ts')).createCommands(commandTable) }), {
      completion: 'print a completion script for bash, zsh or fish',
    }),
  ],
  'Run a node': [
    from(() => import('../commands/node/start.ts'), {
      start: 'serve from the current folder, with example skills and a first administrator account',
    }),
    from(() => import('../commands/node/serve.ts'), { serve: 'serve a registry' }),
    from(() => import('../commands/node/import.ts'), {
      import: 'import a folder of skills, a zip, .ndjson[.gz] records or an export',
    }),
    from(() => import('../commands/node/examples.ts'), { examples: 'publish the example skills' }),
    from(() => import('../commands/node/users.ts'), {
      'users create': 'create a user with a first API key',
      'users list': 'list the users of a node',
      'users set-plan': "change a user's plan",
      'users key': 'issue an API key for a user',
      'users disable': 'disable a user',
      'users enable': 'enable a disabled user',
    }),
    from(() => import('../commands/node/audit.ts'), { audit: 'show or export the audit log' }),
    from(() => import('../commands/node/external.ts'), {
      'external list': 'list indexed skills of other registries',
      'external add': 'index a skill of another registry',
      'external import': 'index a list of skills of other registries',
      'external scan': 'scan a skill at a URL, or from standard input',
      'external remove': 'remove a skill of another registry from the index',
    }),
    from(() => import('../commands/node/key.ts'), {
      key: 'show the public key of a node',
      'key rotate': "replace a node's signing key",
    }),
    from(() => import('../commands/moderate/quarantine.ts'), { rescan: 'scan all stored versions again' }),
    from(() => import('../commands/node/rules.ts'), {
      'rules follow': 'install a signed bundle of scanner rules, and keep it up to date',
      'rules update': 'check the source of the bundle of rules now',
      'rules show': 'show the installed bundle of rules',
      'rules remove': 'remove the installed bundle of rules',
      'rules key': 'create a signing key for rules',
      'rules sign': 'check rules and sign them as a bundle',
      'rules verify': 'verify a bundle of rules without a registry',
    }),
  ],
  'Back up and check': [
    from(() => import('../commands/upkeep/backup.ts'), {
      backup: 'copy a registry to a file, also while it is in use',
    }),
    from(() => import('../commands/upkeep/restore.ts'), { restore: 'restore a registry from a backup' }),
    from(() => import('../commands/upkeep/export.ts'), {
      export: 'export a whole registry as JSON lines, for either database',
    }),
    from(() => import('../commands/upkeep/doctor.ts'), { doctor: 'check a registry and the machine it runs on' }),
    from(() => import('../commands/upkeep/health.ts'), { health: 'ask a node whether it can take traffic' }),
    from(() => import('../commands/upkeep/gc.ts'), { gc: 'delete unreferenced data' }),
    from(() => import('../commands/upkeep/blobs.ts'), { 'blobs move': 'move large files to the bucket, or back' }),
  ],
  'Mirror other registries, also without a network': [
    from(() => import('../commands/mirror/mirror.ts'), {
      'mirror add': 'add an upstream registry',
      'mirror set': 'change the settings of an upstream',
      'mirror list': 'list upstreams',
      'mirror status': 'show the state of upstreams, and which are paused',
      'mirror remove': 'remove an upstream',
    }),
    from(() => import('../commands/mirror/mirror-sync.ts'), {
      'mirror sync': 'sync an upstream: import and verify new versions',
      'mirror resume': 'resume a paused upstream',
    }),
    from(() => import('../commands/mirror/mirror-watch.ts'), {
      'mirror watch': 'sync upstreams on schedule and print changes',
    }),
    from(() => import('../commands/mirror/mirror-outbox.ts'), {
      'mirror outbox': 'pending upstream writes: list, retry, drop, rename',
    }),
    from(() => import('../commands/mirror/mirror-link.ts'), {
      'mirror link': "save a user's upstream API key",
      'mirror unlink': "remove a user's upstream API key",
    }),
    from(() => import('../commands/mirror/bundle.ts'), {
      'bundle create': 'export a registry into one signed file',
      'bundle inspect': 'show the header of a bundle, not verified',
      'bundle verify': 'verify a bundle without a registry',
    }),
    from(() => import('../commands/mirror/bundle-import.ts'), { 'bundle import': 'verify a bundle and import it' }),
  ],
  Moderate: [
    from(() => import('../commands/moderate/quarantine.ts'), {
      'quarantine list': 'list quarantined versions',
      'quarantine show': 'show a quarantined version with its findings',
      'quarantine release': 'publish a quarantined version',
      'quarantine diff': 'compare a quarantined version with the published one',
      'quarantine review': 'approve a version, or request changes',
      'quarantine comment': 'comment on a version that waits for reviewers',
      'quarantine refuse': 'refuse a quarantined version',
    }),
    from(() => import('../commands/moderate/reports.ts'), {
      'reports list': 'list reports of skills and appeals by their owners',
      'reports decide': 'decide a report or an appeal',
      'skills moderate': 'flag a skill, hide it, or show it again',
    }),
    from(() => import('../commands/moderate/verifications.ts'), {
      'verifications list': 'list author verifications',
      'verifications decide': 'decide a manual verification, or revoke a verification',
    }),
    from(() => import('../commands/moderate/dmca.ts'), {
      'dmca list': 'list takedown cases',
      'dmca show': 'show a takedown case',
      'dmca decide': 'decide a takedown case',
    }),
  ],
}

/** Every command, in the order of the help. */
export const commandTable: readonly ListedCommand[] = Object.entries(groups).flatMap(([group, modules]) =>
  modules.flatMap(({ load, summaries }) =>
    Object.entries(summaries).map(([name, summary]) => ({
      name,
      group,
      summary,
      load: async () => (await load()).commands[name]!,
    })),
  ),
)
