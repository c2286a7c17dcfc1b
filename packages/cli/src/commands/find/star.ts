import { flag } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'

export const commands = {
  star: apiCommand({
    description: 'Star a skill, or remove the star.',
    words: ['NAME'],
    options: { remove: { help: 'remove the star' } },
    actor: 'user',
    async call(api, given) {
      const [name] = given.words
      return { name, ...(await (flag(given, 'remove') ? api.unstarSkill({ name }) : api.starSkill({ name }))) }
    },
    show: ({ name, starred, stars }) => [`${name} ${starred ? 'has' : 'no longer has'} your star; ${stars} in all.`],
  }),
}
