import type { QuarantinedDetails, QuarantinedVersion } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'
import { toShortFindingLines } from '../scan/verdict.ts'

/** `skillstead quarantine list`. */
export const listQuarantined: Command<{ quarantined: QuarantinedVersion[]; total: number }> = {
  summary: 'List quarantined versions, oldest first.',
  words: [],
  options: { page: { value: 'N', help: 'the page, of 100 rows each. Default: 1' }, ...placeOptions },
  run: (given) => withApi(given, (api) => api.listQuarantined({ limit: 100, page: text(given, 'page') })),
  show: ({ quarantined, total }) => [...quarantined.map(toLine), `${quarantined.length} of ${total}.`],
}

/** `skillstead quarantine show ID`. */
export const showQuarantined: Command<QuarantinedDetails> = {
  summary: 'Show a quarantined version with its scan findings.',
  words: ['ID'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.getQuarantined({ id: given.words[0]! })),
  show: (quarantined) => [
    toLine(quarantined),
    ...quarantined.files.map(({ path, size, digest }) => `  ${toOneLine(path)}  ${size} bytes  ${digest}`),
    ...quarantined.security.findings.flatMap(toShortFindingLines),
  ],
}

/** `skillstead quarantine release ID`. */
export const releaseQuarantined: Command<{ fullName: string; version: string }> = {
  summary: 'Publish a quarantined version as its publisher requested it.',
  words: ['ID'],
  options: placeOptions,
  async run(given) {
    const { skill, version } = await withApi(given, (api) => api.releaseQuarantined({ id: given.words[0]! }))
    return { fullName: skill.fullName, version: version.version }
  },
  show: ({ fullName, version }) => [`${fullName}@${version} is published.`],
}

/** `skillstead quarantine refuse ID`. */
export const refuseQuarantinedVersion: Command<{ refused: string }> = {
  summary: 'Refuse a quarantined version and delete it.',
  words: ['ID'],
  options: { note: { value: 'TEXT', help: 'the reason, for the audit log' }, ...placeOptions },
  async run(given) {
    const [id] = given.words as [string]
    await withApi(given, (api) => api.deleteQuarantined({ id, note: text(given, 'note') }))
    return { refused: id }
  },
  show: ({ refused }) => [`Refused and deleted ${refused}.`],
}

/** `skillstead rescan`. */
export const rescan: Command<{ waiting: number }> = {
  summary: 'Scan every stored version again on the running node, or on the next one that starts.',
  words: [],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.startRescan({})),
  show: ({ waiting }) => [`${count(waiting, 'version')} will be scanned again.`],
}

function toLine({ id, fullName, version, publisher, security, createdAt, published }: QuarantinedVersion): string {
  const { verdict, score, findings } = security
  return `${id}  ${fullName}@${version}  ${verdict}, ${score} of 100, ${count(findings.length, 'finding')}  by ${publisher.username}, ${createdAt}${published ? ', published before' : ''}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
