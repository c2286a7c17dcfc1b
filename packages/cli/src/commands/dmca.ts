import { dmcaStatuses, type DmcaCase } from '@skillstead/protocol'
import { choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

/** `skillstead dmca list`. */
export const listCases: Command<{ cases: DmcaCase[]; total: number }> = {
  summary: 'Lists takedown cases, newest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: dmcaStatuses.join(', ') },
    page: { value: 'N', help: 'which page of a hundred' },
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
  summary: 'Shows a takedown case: what is claimed, what was answered, and what became of it.',
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
    'Decides a takedown case. `counter_noticed` confirms who sent a counter-notice, `upheld` records a court action.',
  words: ['ID', 'STATUS'],
  options: {
    note: { value: 'TEXT', help: 'why, for the parties' },
    'counter-notice': { value: 'ID', help: 'which one is confirmed, where several wait' },
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
      ? [`Unless a court action is recorded, it is restored on ${counterNoticeUntil}.`]
      : []),
  ],
}

function toLines(fields: Readonly<Record<string, unknown>>): string[] {
  const given = Object.entries(fields).filter(([, value]) => typeof value === 'string')
  return given.map(([name, value]) => `  ${name.padEnd(15)}  ${toOneLine(value as string)}`)
}
