import { toOneLine } from '@skillstead/protocol'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'
import { toFactLines } from '../../terminal/output.ts'

export const commands = {
  'dmca list': endpointList('listDmca', {
    description: 'List takedown cases, newest first.',
    options: { status: { value: 'STATUS', help: 'only cases with this status' } },
    rows: 'cases',
    toLines: ({ id, status, submittedAt, skill }) => `${id}  ${status.padEnd(15)}  ${submittedAt}  ${skill?.fullName}`,
  }),
  'dmca show': endpointCommand('getDmca', {
    description: 'Show a takedown case: the claim, the counter-notices and the decision.',
    words: { ID: 'id' },
    show: (found) => [
      `${found.id}  ${found.status}`,
      ...toCaseLines({ skill: found.skill?.fullName, 'court action by': found.counterNoticeUntil }),
      ...(found.notice ? ['Claim', ...toCaseLines(found.notice)] : []),
      ...(found.counterNotices ?? []).flatMap(({ confirmed, ...answer }) => [
        `Counter-notice (${confirmed ? 'confirmed' : 'the sender is not confirmed'})`,
        ...toCaseLines(answer),
      ]),
      'History',
      ...found.history.map(({ status, at, note }) =>
        `  ${at}  ${status.padEnd(15)}  ${toOneLine(note ?? '')}`.trimEnd(),
      ),
    ],
  }),
  'dmca decide': endpointCommand('updateDmca', {
    description:
      'Decide a takedown case. `counter_noticed` confirms the sender of a counter-notice, `upheld` records a court action.',
    words: { ID: 'id', STATUS: 'status' },
    options: {
      note: { value: 'TEXT', help: 'the reason, which both parties can read' },
      'counter-notice': {
        value: 'ID',
        help: 'the counter-notice to confirm, if several are pending',
        field: 'counterNoticeId',
      },
    },
    show: ({ id, status, skill, counterNoticeUntil }) => [
      `${id} about ${skill?.fullName} is ${status}.`,
      ...(status === 'counter_noticed'
        ? [`The skill is restored on ${counterNoticeUntil} unless a court action is recorded.`]
        : []),
    ],
  }),
}

function toCaseLines(fields: Readonly<Record<string, unknown>>): string[] {
  return toFactLines(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
    16,
  )
}
