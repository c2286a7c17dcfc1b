import { requestStatuses, type SkillRequest, toOneLine } from '@skillstead/protocol'
import { text } from '../command/command.ts'
import { listCommand } from '../registry/api-command.ts'

const sorts = ['votes', 'recent'] as const

export const commands = {
  requests: listCommand({
    description: 'List skill requests, most votes first.',
    options: {
      status: { value: 'STATUS', help: 'only requests with this status', choices: requestStatuses },
      sort: { value: 'SORT', help: 'the order; recent is newest first. Default: votes', choices: sorts },
    },
    rows: 'requests',
    call: (api, page, given) =>
      api.listRequests({
        ...page,
        status: text<SkillRequest['status']>(given, 'status'),
        sort: text<(typeof sorts)[number]>(given, 'sort'),
      }),
    toLines: ({ id, status, votes, title, fulfilledBy }) => [
      `${id}  ${status.padEnd(11)}  ▲${votes}  ${toOneLine(title)}`,
      ...(fulfilledBy === null ? [] : [`  fulfilled by ${fulfilledBy}`]),
    ],
  }),
}
