import { toOneLine, type RegistryApi } from '@skillstead/protocol'
import { UsageError, flag } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'

const actor = "skill's owner"

export const commands = {
  yank: apiCommand({
    description: 'Yank a version: hide it from search and new installs. It can still be requested by its exact number.',
    words: ['NAME@VERSION'],
    actor,
    call: (api, { words: [word] }) => changeYank(api, word, true),
    show: ({ name, version }) => [`Yanked ${name}@${version}. Undo with \`skillstead unyank ${name}@${version}\`.`],
  }),
  unyank: apiCommand({
    description: 'Undo the yank of a version.',
    words: ['NAME@VERSION'],
    actor,
    call: (api, { words: [word] }) => changeYank(api, word, false),
    show: ({ name, version }) => [`${name}@${version} is no longer yanked.`],
  }),
  deprecate: apiCommand({
    description: 'Mark a skill as deprecated; users who show, install or update it see the message.',
    words: ['NAME', '[MESSAGE...]'],
    options: { undo: { help: 'undo the deprecation' } },
    actor,
    async call(api, given) {
      const [name, ...message] = given.words
      if (flag(given, 'undo') && message.length > 0) throw new UsageError('Pass a message or --undo, not both.')
      const input = { name, deprecated: !flag(given, 'undo'), deprecationMessage: message.join(' ') }
      const { fullName, deprecated, deprecationMessage } = (await api.publishSkill(input)).skill
      return { fullName, deprecated, deprecationMessage }
    },
    show: ({ fullName, deprecated, deprecationMessage }) => [
      deprecated
        ? `${fullName} is deprecated${deprecationMessage === '' ? '.' : `: ${toOneLine(deprecationMessage)}`}`
        : `${fullName} is no longer deprecated.`,
    ],
  }),
}

async function changeYank(api: RegistryApi, word: string, yanked: boolean) {
  const [, name, version] = /^(.+)@(\d+\.\d+\.\d+)$/.exec(word) ?? []
  if (name === undefined || version === undefined)
    throw new UsageError(`'${word}' has no version. Use the form NAME@1.2.3.`)
  await (yanked ? api.yankVersion({ name, version }) : api.unyankVersion({ name, version }))
  return { name, version, yanked }
}
