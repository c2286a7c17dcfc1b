import { moderationStates, type Moderation, toOneLine } from '@skillstead/protocol'
import { UsageError, textOption } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'

export const commands = {
  'reports list': endpointList('listReports', {
    description: 'List reports of skills and appeals by their owners, oldest first.',
    options: {
      status: { value: 'STATUS', help: 'only reports with this status' },
      kind: { value: 'KIND', help: 'only reports of this kind' },
    },
    rows: 'reports',
    toLines: ({ id, kind, status, skill, reporter, reason, details, note }) => [
      `${id}  ${kind}  ${status.padEnd(9)}  ${skill.fullName}`,
      `  ${reporter?.username ?? 'a guest'}: ${toOneLine(`${reason} ${details}`)}`,
      ...(note === '' ? [] : [`  decided: ${toOneLine(note)}`]),
    ],
  }),
  'reports decide': endpointCommand('decideReport', {
    description:
      'Decide a report (upheld hides the skill) or an appeal (upheld shows it again). The decision is final.',
    words: { ID: 'id', VERDICT: 'status' },
    options: { note: { value: 'TEXT', help: 'the reason; the owner can read it, except that of a dismissed report' } },
    show: ({ kind, skill, status }) => [`The ${kind} about ${skill.fullName} is ${status}.`],
  }),
  'skills moderate': apiCommand({
    description:
      'Flag a skill (agents that installed it are warned), hide it from all users but its owner, or show it again.',
    words: ['NAME', 'STATE'],
    choices: { STATE: moderationStates },
    options: { reason: { value: 'TEXT', help: 'the reason, which the owner can read' } },
    async call(api, given) {
      const [name, state] = given.words as [string, Moderation['state']]
      const reason = textOption(given, 'reason')
      if (reason === undefined) throw new UsageError('The reason is missing. Pass --reason TEXT.')
      return api.moderateSkill({ name, state, reason })
    },
    show: ({ skill, state }) => [`${skill.fullName} is ${state}.`],
  }),
}
