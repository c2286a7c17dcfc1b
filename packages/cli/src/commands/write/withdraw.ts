import { toOneLine, type Recall, type Recalls, type RegistryApi } from '@skillstead/protocol'
import { UsageError, flag, textOption, type Arguments } from '../../command/command.ts'
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
  recall: apiCommand({
    description:
      'Recall the versions in a range, also those published later: installs, updates and gateways refuse them at once, ' +
      'and agents that have them learn of it at their next heartbeat. Without a range and a reason, list the recalls.',
    words: ['NAME[@RANGE]'],
    options: {
      reason: { value: 'TEXT', help: 'why the versions must not be used any more; everyone sees it' },
      end: { value: 'ID', help: 'end a recall' },
    },
    actor,
    call: changeRecall,
    show: showRecalls,
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

const usage = 'Use the form NAME@RANGE, such as alice/tool@1.2.3 or "alice/tool@>=1.0.0 <1.4.2".'

async function changeRecall(api: RegistryApi, given: Arguments): Promise<RecallsOfSkill> {
  const [, name = '', range] = /^([^@]+)(?:@(.+))?$/.exec(given.words[0]!) ?? []
  const [reason, id] = [textOption(given, 'reason'), textOption(given, 'end')]
  if (name === '') throw new UsageError(usage)
  if (id !== undefined) return { name, recalls: [await api.endRecall({ name, id })] }
  if (range === undefined && reason === undefined) return { name, ...(await api.listRecalls({ name })) }
  if (range === undefined) throw new UsageError(usage)
  if (reason === undefined) throw new UsageError('Pass --reason TEXT: everyone who has the version sees it.')
  return { name, recalls: [await api.recallSkill({ name, range, reason })] }
}

interface RecallsOfSkill extends Recalls {
  readonly name: string
}

function showRecalls({ name, recalls, known }: RecallsOfSkill): string[] {
  if (recalls.length === 0) return [`No version of ${name} is recalled.`]
  return [...recalls.flatMap((recall) => toRecallLines(name, recall)), ...toKnownLines(known)]
}

function toRecallLines(name: string, { id, range, reason, endedAt, versions, versionCount }: Recall): string[] {
  const more = versionCount > versions.length ? ` and ${versionCount - versions.length} more` : ''
  const covered = versionCount === 0 ? 'no published version; it covers later ones' : versions.join(', ') + more
  const end = endedAt === undefined ? `End it with \`skillstead recall ${name} --end ${id}\`.` : `Ended ${endedAt}.`
  const what = endedAt === undefined ? 'Recalled' : 'No longer recalled'
  return [toOneLine(`${what}: ${name}@${range}. ${reason}`), `  Versions: ${covered}. ${end}`]
}

function toKnownLines(known: Recalls['known']): string[] {
  if (known === undefined) return []
  const lines = [
    ...known.agents.map(({ version, platform, count }) => `  ${version}  ${count} agents of ${toOneLine(platform)}`),
    ...known.users.map(({ version, count }) => `  ${version}  ${count} users`),
  ]
  return lines.length === 0
    ? ['No one is known to have a recalled version.']
    : ['Known to have a recalled version:', ...lines]
}

async function changeYank(api: RegistryApi, word: string, yanked: boolean) {
  const [, name, version] = /^(.+)@(\d+\.\d+\.\d+)$/.exec(word) ?? []
  if (name === undefined || version === undefined)
    throw new UsageError(`'${word}' has no version. Use the form NAME@1.2.3.`)
  await (yanked ? api.yankVersion({ name, version }) : api.unyankVersion({ name, version }))
  return { name, version, yanked }
}
