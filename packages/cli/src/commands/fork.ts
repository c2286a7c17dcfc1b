import type { SkillDetails } from '@skillstead/protocol'
import type { Command } from '../command.ts'
import { placeOptions, requireUser, userOption, withApi } from '../place.ts'

/** `skillstead fork NAME [NEWNAME]`. */
export const fork: Command<SkillDetails> = {
  summary: 'Copies the latest version of a skill to your own account, under its name or another.',
  words: ['NAME', '[NEWNAME]'],
  options: { ...userOption, ...placeOptions },
  async run(given) {
    const [name, newName] = given.words as [string, string?]
    const as = requireUser(given, 'Say whose the fork is to be: --user NAME.')
    return withApi(given, (api) => api.forkSkill({ name, newName }), { as })
  },
  show: ({ fullName, latestVersion, forkedFrom }) => [
    `${fullName}@${latestVersion} is yours now${forkedFrom ? `, a fork of ${forkedFrom.fullName}@${forkedFrom.version}` : ''}.`,
  ],
}
