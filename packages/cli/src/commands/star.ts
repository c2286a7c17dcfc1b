import { flag, type Command } from '../command.ts'
import { placeOptions, requireUser, userOption, withApi } from '../place.ts'

interface Starred {
  readonly name: string
  readonly starred: boolean
  readonly stars: number
}

/** `skillstead star NAME`. */
export const star: Command<Starred> = {
  summary: 'Star a skill, or remove the star.',
  words: ['NAME'],
  options: { remove: { help: 'remove the star' }, ...userOption, ...placeOptions },
  async run(given) {
    const [name] = given.words as [string]
    const as = requireUser(given, 'The user is missing. Pass --user NAME.')
    const remove = flag(given, 'remove')
    const answer = await withApi(given, (api) => (remove ? api.unstarSkill({ name }) : api.starSkill({ name })), { as })
    return { name, ...answer }
  },
  show: ({ name, starred, stars }) => [`${name} ${starred ? 'has' : 'no longer has'} your star; ${stars} in all.`],
}
