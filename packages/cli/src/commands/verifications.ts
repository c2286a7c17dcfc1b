import { verificationStatuses, type ListedVerification } from '@skillstead/protocol'
import { choice, text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'

const decisions = ['verified', 'rejected'] as const

/** `skillstead verifications list`. */
export const listVerifications: Command<{ verifications: ListedVerification[]; total: number }> = {
  summary: 'Lists verifications of authors, the oldest first.',
  words: [],
  options: {
    status: { value: 'STATUS', help: `${verificationStatuses.join(', ')}; all unless it is said` },
    page: { value: 'N', help: 'which page of a hundred' },
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
  summary: 'Decides a manual verification, or takes back one of any kind.',
  words: ['ID', 'DECISION'],
  options: { note: { value: 'TEXT', help: 'why, for the author to read' }, ...placeOptions },
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
