import { moderationStates, reportKinds, reportStatuses, type Moderation, type Report } from '@skillstead/protocol'
import { UsageError, choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

const verdicts = ['upheld', 'dismissed'] as const

/** `skillstead reports list`. */
export const listReports: Command<{ reports: Report[]; total: number }> = {
  summary: 'Lists the reports of skills and the appeals of their owners, the oldest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: reportStatuses.join(', ') },
    kind: { value: 'KIND', help: reportKinds.join(' or ') },
    page: { value: 'N', help: 'which page of a hundred' },
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
  summary: 'Decides a report (upheld hides the skill) or an appeal (upheld shows it again). That is final.',
  words: ['ID', 'VERDICT'],
  options: { note: { value: 'TEXT', help: 'why; the owner reads it, unless a report is dismissed' }, ...placeOptions },
  async run(given) {
    const [id, verdict] = given.words as [string, string]
    const status = choice(verdict, verdicts, 'verdict')!
    return withApi(given, (api) => api.decideReport({ id, status, note: text(given, 'note') }))
  },
  show: ({ kind, skill, status }) => [`The ${kind} about ${skill.fullName} is ${status}.`],
}

/** `skillstead skills moderate NAME shown|flagged|hidden`. */
export const moderateSkill: Command<Moderation> = {
  summary: 'Flags a skill (agents that have it are warned), hides it from everybody but its owner, or shows it again.',
  words: ['NAME', 'STATE'],
  options: { reason: { value: 'TEXT', help: 'why; the owner reads it' }, ...placeOptions },
  async run(given) {
    const [name, wanted] = given.words as [string, string]
    const state = choice(wanted, moderationStates, 'state')!
    const reason = text(given, 'reason')
    if (reason === undefined) throw new UsageError('Say why: --reason TEXT.')
    return withApi(given, (api) => api.moderateSkill({ name, state, reason }))
  },
  show: ({ skill, state }) => [`${skill.fullName} is ${state}.`],
}
