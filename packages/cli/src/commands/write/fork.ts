import { endpointCommand } from '../../registry/endpoint-command.ts'

export const commands = {
  fork: endpointCommand('forkSkill', {
    description: 'Copy the latest version of a skill to your own account. Default for NEWNAME: the same name.',
    words: { NAME: 'name', '[NEWNAME]': 'newName' },
    actor: 'owner of the fork',
    show: ({ fullName, latestVersion, forkedFrom }) => [
      `${fullName}@${latestVersion} is now in your account${forkedFrom ? `, a fork of ${forkedFrom.fullName}@${forkedFrom.version}` : ''}.`,
    ],
  }),
}
