import { verificationStatuses, type ListedVerification, toOneLine } from '@skillstead/protocol'
import { text } from '../command/command.ts'
import { apiCommand, listCommand } from '../registry/api-command.ts'

const decisions = ['verified', 'rejected'] as const

export const commands = {
  'verifications list': listCommand({
    description: 'List author verifications, oldest first.',
    options: {
      status: {
        value: 'STATUS',
        help: 'only verifications with this status. Default: all',
        choices: verificationStatuses,
      },
    },
    rows: 'verifications',
    call: (api, page, given) =>
      api.listVerifications({ ...page, status: text<ListedVerification['status']>(given, 'status') }),
    toLines: ({ id, username, method, status, proof, note }) => {
      const why = note === '' ? '' : `  (${toOneLine(note)})`
      return `${id}  ${status}  ${username}  ${method}  ${toOneLine(proof)}${why}`
    },
  }),
  'verifications decide': apiCommand({
    description: 'Decide a manual verification, or revoke a verification of any kind.',
    words: ['ID', 'DECISION'],
    choices: { DECISION: decisions },
    options: { note: { value: 'TEXT', help: 'the reason, which the author can read' } },
    call(api, given) {
      const [id, status] = given.words as [string, (typeof decisions)[number]]
      return api.decideVerification({ id, status, note: text(given, 'note') })
    },
    show: ({ username, method, status }) => [`The ${method} verification of ${username} is ${status}.`],
  }),
}
