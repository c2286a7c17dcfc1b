import { dmcaStatuses, type DmcaCase } from '@skillstead/protocol'
import { choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

/** `skillstead dmca list`. */
export const listCases: Command<{ cases: DmcaCase[]; total: number }> = {
  summary: 'List takedown cases, newest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: dmcaStatuses.join(', ') },
    page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' },
    ...placeOptions,
  },
  run(given) {
    const input = {
      status: choice(text(given, 'status'), dmcaStatuses, 'status'),
      limit: 100,
      page: text(given, 'page'),
    }
    return withApi(given, (api) => api.listDmca(input))
  },
  show: ({ cases, total }) => [
    ...cases.map(
      ({ id, status, submittedAt, skill }) => `${id}  ${status.padEnd(15)}  ${submittedAt}  ${skill?.fullName}`,
    ),
    `${cases.length} of ${total}.`,
  ],
}

/** `skillstead dmca show ID`. */
export const showCase: Command<DmcaCase> = {
  summary: 'Show a takedown case: the claim, the counter-notices and the decision.',
  words: ['ID'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.getDmca({ id: given.words[0]! })),
  show: (found) => [
    `${found.id}  ${found.status}`,
    ...toLines({ skill: found.skill?.fullName, 'court action by': found.counterNoticeUntil }),
    ...(found.notice ? ['Claim', ...toLines(found.notice)] : []),
    ...(found.counterNotices ?? []).flatMap(({ confirmed, ...answer }) => [
      `Counter-notice (${confirmed ? 'confirmed' : 'nobody has confirmed who sent it'})`,
      ...toLines(answer),
    ]),
    'History',
    ...found.history.map(({ status, at, note }) => `  ${at}  ${status.padEnd(15)}  ${toOneLine(note ?? '')}`.trimEnd()),
  ],
}

/** `skillstead dmca decide ID STATUS`. */
export const decideCase: Command<DmcaCase> = {
  summary:
    'Decide a takedown case. `counter_noticed` confirms the sender of a counter-notice, `upheld` records a court action.',
  words: ['ID', 'STATUS'],
  options: {
    note: { value: 'TEXT', help: 'the reason, which both parties can read' },
    'counter-notice': { value: 'ID', help: 'the counter-notice to confirm, if several are pending' },
    ...placeOptions,
  },
  run(given) {
    const [id] = given.words as [string]
    const status = choice(given.words[1], dmcaStatuses, 'status')!
    const decision = { id, status, note: text(given, 'note'), counterNoticeId: text(given, 'counter-notice') }
    return withApi(given, (api) => api.updateDmca(decision))
  },
  show: ({ id, status, skill, counterNoticeUntil }) => [
    `${id} about ${skill?.fullName} is ${status}.`,
    ...(status === 'counter_noticed'
      ? [`The skill is restored on ${counterNoticeUntil} unless a court action is recorded.`]
      : []),
  ],
}

function toLines(fields: Readonly<Record<string, unknown>>): string[] {
  const given = Object.entries(fields).filter(([, value]) => typeof value === 'string')
  return given.map(([name, value]) => `  ${name.padEnd(15)}  ${toOneLine(value as string)}`)
}
