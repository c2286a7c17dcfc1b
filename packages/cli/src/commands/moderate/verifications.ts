import { toOneLine } from '@skillstead/protocol'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'

export const commands = {
  'verifications list': endpointList('listVerifications', {
    description: 'List author verifications, oldest first.',
    options: { status: { value: 'STATUS', help: 'only verifications with this status. Default: all' } },
    rows: 'verifications',
    toLines: ({ id, username, method, status, proof, note }) => {
      const why = note === '' ? '' : `  (${toOneLine(note)})`
      return `${id}  ${status}  ${username}  ${method}  ${toOneLine(proof)}${why}`
    },
  }),
  'verifications decide': endpointCommand('decideVerification', {
    description: 'Decide a manual verification, or revoke a verification of any kind.',
    words: { ID: 'id', DECISION: 'status' },
    options: { note: { value: 'TEXT', help: 'the reason, which the author can read' } },
    show: ({ username, method, status }) => [`The ${method} verification of ${username} is ${status}.`],
  }),
}
