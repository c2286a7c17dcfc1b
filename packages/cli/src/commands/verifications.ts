import { verificationStatuses, type ListedVerification } from '@skillstead/protocol'
import { choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

const decisions = ['verified', 'rejected'] as const

/** `skillstead verifications list`. */
export const listVerifications: Command<{ verifications: ListedVerification[]; total: number }> = {
  summary: 'List author verifications, oldest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: `${verificationStatuses.join(', ')}. Default: all` },
    page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' },
    ...placeOptions,
  },
  async run(given) {
    const status = choice(text(given, 'status'), verificationStatuses, 'status')
    return withApi(given, (api) => api.listVerifications({ status, limit: 100, page: text(given, 'page') }))
  },
  show: ({ verifications, total }) => [...verifications.map(toLine), `${verifications.length} of ${total}.`],
}

/** `skillstead verifications decide ID verified|rejected`. */
export const decideVerification: Command<ListedVerification> = {
  summary: 'Decide a manual verification, or revoke a verification of any kind.',
  words: ['ID', 'DECISION'],
  options: { note: { value: 'TEXT', help: 'the reason, which the author can read' }, ...placeOptions },
  async run(given) {
    const [id, wanted] = given.words as [string, string]
    const status = choice(wanted, decisions, 'decision')!
    return withApi(given, (api) => api.decideVerification({ id, status, note: text(given, 'note') }))
  },
  show: ({ username, method, status }) => [`The ${method} verification of ${username} is ${status}.`],
}

function toLine({ id, username, method, status, proof, note }: ListedVerification): string {
  const why = note === '' ? '' : `  (${toOneLine(note)})`
  return `${id}  ${status}  ${username}  ${method}  ${toOneLine(proof)}${why}`
}
