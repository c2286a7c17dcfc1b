import { toOneLine } from '@skillstead/protocol'
import { UsageError, flag } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand } from '../../registry/endpoint-command.ts'

const actor = "skill's owner"

export const commands = {
  visibility: endpointCommand('publishSkill', {
    description: 'Change who can see a skill: everyone, the users of the node, or its owner and collaborators.',
    words: { NAME: 'name', WHO: 'visibility' },
    options: {
      organisation: {
        value: 'NAME',
        help: 'with internal: only for the members of the organisation that owns the skill',
      },
    },
    actor,
    show: ({ skill: { fullName, visibility, organisation } }) => [
      organisation === undefined
        ? `${fullName} is ${visibility}.`
        : `${fullName} is internal to the members of ${organisation}.`,
    ],
  }),
  describe: endpointCommand('publishSkill', {
    description:
      'Change the description of a skill and other metadata, without a new version. They stay until SKILL.md says ' +
      'something else there than the version before.',
    words: { NAME: 'name', '[TEXT]': 'description' },
    options: {
      'display-name': { value: 'TEXT', help: 'the display name' },
      license: { value: 'NAME', help: 'the licence, such as MIT' },
      category: { value: 'NAME', help: 'the category' },
      keywords: { value: 'LIST', help: 'the keywords, separated by commas' },
      repository: { value: 'URL', help: 'the repository of the source' },
    },
    actor,
    show: ({ skill, warnings }) => [
      `${skill.fullName}  ${toOneLine(skill.description)}`,
      ...warnings.map(({ message }) => `  ${toOneLine(message)}`),
    ],
  }),
  delete: apiCommand({
    description: 'Delete a skill for all users, also on mirrors. Its name stays reserved. This cannot be undone.',
    words: ['NAME'],
    options: { yes: { help: 'confirm the deletion' } },
    actor,
    async call(api, given) {
      const [name] = given.words
      if (!flag(given, 'yes'))
        throw new UsageError(
          `Deleting ${name} cannot be undone. Pass --yes to delete it, or use yank or deprecate instead.`,
        )
      await api.deleteSkill({ name })
      return { deleted: name }
    },
    show: ({ deleted }) => [`Deleted ${deleted}. Its name stays reserved.`],
  }),
}
