import {
  moderationStates,
  reportKinds,
  reportStatuses,
  type Moderation,
  type Report,
  toOneLine,
} from '@skillstead/protocol'
import { UsageError, text } from '../command/command.ts'
import { apiCommand, listCommand } from '../registry/api-command.ts'

const verdicts = ['upheld', 'dismissed'] as const

export const commands = {
  'reports list': listCommand({
    description: 'List reports of skills and appeals by their owners, oldest first.',
    options: {
      status: { value: 'STATUS', help: 'only reports with this status', choices: reportStatuses },
      kind: { value: 'KIND', help: 'only reports of this kind', choices: reportKinds },
    },
    rows: 'reports',
    call: (api, page, given) =>
      api.listReports({
        ...page,
        status: text<Report['status']>(given, 'status'),
        kind: text<Report['kind']>(given, 'kind'),
      }),
    toLines: ({ id, kind, status, skill, reporter, reason, details, note }) => [
      `${id}  ${kind}  ${status.padEnd(9)}  ${skill.fullName}`,
      `  ${reporter?.username ?? 'a guest'}: ${toOneLine(`${reason} ${details}`)}`,
      ...(note === '' ? [] : [`  decided: ${toOneLine(note)}`]),
    ],
  }),
  'reports decide': apiCommand({
    description:
      'Decide a report (upheld hides the skill) or an appeal (upheld shows it again). The decision is final.',
    words: ['ID', 'VERDICT'],
    choices: { VERDICT: verdicts },
    options: { note: { value: 'TEXT', help: 'the reason; the owner can read it, except that of a dismissed report' } },
    call(api, given) {
      const [id, status] = given.words as [string, (typeof verdicts)[number]]
      return api.decideReport({ id, status, note: text(given, 'note') })
    },
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
      const reason = text(given, 'reason')
      if (reason === undefined) throw new UsageError('The reason is missing. Pass --reason TEXT.')
      return api.moderateSkill({ name, state, reason })
    },
    show: ({ skill, state }) => [`${skill.fullName} is ${state}.`],
  }),
}
