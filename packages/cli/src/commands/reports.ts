import { moderationStates, reportKinds, reportStatuses, type Moderation, type Report } from '@skillstead/protocol'
import { UsageError, choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

const verdicts = ['upheld', 'dismissed'] as const

/** `skillstead reports list`. */
export const listReports: Command<{ reports: Report[]; total: number }> = {
  summary: 'List reports of skills and appeals by their owners, oldest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: reportStatuses.join(', ') },
    kind: { value: 'KIND', help: reportKinds.join(' or ') },
    page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' },
    ...placeOptions,
  },
  async run(given) {
    const status = choice(text(given, 'status'), reportStatuses, 'status')
    const kind = choice(text(given, 'kind'), reportKinds, 'kind')
    return withApi(given, (api) => api.listReports({ status, kind, limit: 100, page: text(given, 'page') }))
  },
  show: ({ reports, total }) => [
    ...reports.flatMap((report) => [
      `${report.id}  ${report.kind}  ${report.status.padEnd(9)}  ${report.skill.fullName}`,
      `  ${report.reporter?.username ?? 'a guest'}: ${toOneLine(`${report.reason} ${report.details}`)}`,
      ...(report.note === '' ? [] : [`  decided: ${toOneLine(report.note)}`]),
    ]),
    `${reports.length} of ${total}.`,
  ],
}

/** `skillstead reports decide ID upheld|dismissed`. */
export const decideReport: Command<Report> = {
  summary: 'Decide a report (upheld hides the skill) or an appeal (upheld shows it again). The decision is final.',
  words: ['ID', 'VERDICT'],
  options: {
    note: { value: 'TEXT', help: 'the reason; the owner can read it unless a report is dismissed' },
    ...placeOptions,
  },
  async run(given) {
    const [id, verdict] = given.words as [string, string]
    const status = choice(verdict, verdicts, 'verdict')!
    return withApi(given, (api) => api.decideReport({ id, status, note: text(given, 'note') }))
  },
  show: ({ kind, skill, status }) => [`The ${kind} about ${skill.fullName} is ${status}.`],
}

/** `skillstead skills moderate NAME shown|flagged|hidden`. */
export const moderateSkill: Command<Moderation> = {
  summary:
    'Flag a skill (agents that installed it are warned), hide it from all users but its owner, or show it again.',
  words: ['NAME', 'STATE'],
  options: { reason: { value: 'TEXT', help: 'the reason, which the owner can read' }, ...placeOptions },
  async run(given) {
    const [name, wanted] = given.words as [string, string]
    const state = choice(wanted, moderationStates, 'state')!
    const reason = text(given, 'reason')
    if (reason === undefined) throw new UsageError('The reason is missing. Pass --reason TEXT.')
    return withApi(given, (api) => api.moderateSkill({ name, state, reason }))
  },
  show: ({ skill, state }) => [`${skill.fullName} is ${state}.`],
}
