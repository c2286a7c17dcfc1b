import { requestStatuses, type SkillRequest } from '@skillstead/protocol'
import { choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

const sorts = ['votes', 'recent'] as const

/** `skillstead requests`. */
export const listRequests: Command<{ requests: SkillRequest[]; total: number }> = {
  summary: 'List skill requests, most votes first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: requestStatuses.join(', ') },
    sort: { value: 'SORT', help: 'votes, or recent for newest first' },
    page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' },
    ...placeOptions,
  },
  async run(given) {
    const status = choice(text(given, 'status'), requestStatuses, 'status')
    const sort = choice(text(given, 'sort'), sorts, 'order')
    return withApi(given, (api) => api.listRequests({ status, sort, limit: 100, page: text(given, 'page') }))
  },
  show: ({ requests, total }) => [
    ...requests.flatMap((request) => [
      `${request.id}  ${request.status.padEnd(11)}  ▲${request.votes}  ${toOneLine(request.title)}`,
      ...(request.fulfilledBy === null ? [] : [`  fulfilled by ${request.fulfilledBy}`]),
    ]),
    `${requests.length} of ${total}.`,
  ],
}
