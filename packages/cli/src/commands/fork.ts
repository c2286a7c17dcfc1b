import { apiCommand } from '../registry/api-command.ts'

export const commands = {
  fork: apiCommand({
    description: 'Copy the latest version of a skill to your own account. Default for NEWNAME: the same name.',
    words: ['NAME', '[NEWNAME]'],
    actor: 'owner of the fork',
    call: (api, { words: [name, newName] }) => api.forkSkill({ name, newName }),
    show: ({ fullName, latestVersion, forkedFrom }) => [
      `${fullName}@${latestVersion} is now in your account${forkedFrom ? `, a fork of ${forkedFrom.fullName}@${forkedFrom.version}` : ''}.`,
    ],
  }),
}
