import { toOneLine } from '@skillstead/protocol'
import { endpointList } from '../../registry/endpoint-command.ts'

export const commands = {
  requests: endpointList('listRequests', {
    description: 'List skill requests, most votes first.',
    options: {
      status: { value: 'STATUS', help: 'only requests with this status' },
      sort: { value: 'SORT', help: 'the order; recent is newest first. Default: votes' },
    },
    rows: 'requests',
    toLines: ({ id, status, votes, title, fulfilledBy }) => [
      `${id}  ${status.padEnd(11)}  ▲${votes}  ${toOneLine(title)}`,
      ...(fulfilledBy === null ? [] : [`  fulfilled by ${fulfilledBy}`]),
    ],
  }),
}
