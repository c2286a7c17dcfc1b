import type { SkillDetails } from '@skillstead/protocol'
import type { Command } from '../command.ts'
import { placeOptions, requireUser, userOption, withApi } from '../place.ts'

/** `skillstead fork NAME [NEWNAME]`. */
export const fork: Command<SkillDetails> = {
  summary: 'Copy the latest version of a skill to your own account. Default for NEWNAME: the same name.',
  words: ['NAME', '[NEWNAME]'],
  options: { ...userOption, ...placeOptions },
  async run(given) {
    const [name, newName] = given.words as [string, string?]
    const as = requireUser(given, 'The owner of the fork is missing. Pass --user NAME.')
    return withApi(given, (api) => api.forkSkill({ name, newName }), { as })
  },
  show: ({ fullName, latestVersion, forkedFrom }) => [
    `${fullName}@${latestVersion} is now in your account${forkedFrom ? `, a fork of ${forkedFrom.fullName}@${forkedFrom.version}` : ''}.`,
  ],
}
