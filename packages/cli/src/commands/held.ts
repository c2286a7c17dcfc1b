import type { HeldDetails, HeldVersion } from '@skillstead/protocol'
import { text, type Command } from '../command.ts'
import { toOneLine } from '../output.ts'
import { placeOptions, withApi } from '../place.ts'
import { toShortFindingLines } from '../scan/verdict.ts'

/** `skillstead held list`. */
export const listHeld: Command<{ held: HeldVersion[]; total: number }> = {
  summary: 'Lists the versions that wait for an administrator, the oldest first.',
  words: [],
  options: { page: { value: 'N', help: 'which page of a hundred' }, ...placeOptions },
  run: (given) => withApi(given, (api) => api.listHeld({ limit: 100, page: text(given, 'page') })),
  show: ({ held, total }) => [...held.map(toLine), `${held.length} of ${total}.`],
}

/** `skillstead held show ID`. */
export const showHeld: Command<HeldDetails> = {
  summary: 'Shows a version that waits, with what its scan found.',
  words: ['ID'],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.getHeld({ id: given.words[0]! })),
  show: (held) => [
    toLine(held),
    ...held.files.map(({ path, size, digest }) => `  ${toOneLine(path)}  ${size} bytes  ${digest}`),
    ...held.security.findings.flatMap(toShortFindingLines),
  ],
}

/** `skillstead held release ID`. */
export const releaseHeld: Command<{ fullName: string; version: string }> = {
  summary: 'Publishes a version that waits, as its publisher asked for it.',
  words: ['ID'],
  options: placeOptions,
  async run(given) {
    const { skill, version } = await withApi(given, (api) => api.releaseHeld({ id: given.words[0]! }))
    return { fullName: skill.fullName, version: version.version }
  },
  show: ({ fullName, version }) => [`${fullName}@${version} is published.`],
}

/** `skillstead held refuse ID`. */
export const refuseHeld: Command<{ refused: string }> = {
  summary: 'Refuses a version that waits; nothing of it stays.',
  words: ['ID'],
  options: { note: { value: 'TEXT', help: 'why; it stands in the audit log' }, ...placeOptions },
  async run(given) {
    const [id] = given.words as [string]
    await withApi(given, (api) => api.deleteHeld({ id, note: text(given, 'note') }))
    return { refused: id }
  },
  show: ({ refused }) => [`${refused} is refused.`],
}

/** `skillstead rescan`. */
export const rescan: Command<{ waiting: number }> = {
  summary: 'Has every stored version scanned again by the running node, or by the next one that is started.',
  words: [],
  options: placeOptions,
  run: (given) => withApi(given, (api) => api.startRescan({})),
  show: ({ waiting }) => [`${count(waiting, 'version')} will be scanned again.`],
}

function toLine({ id, fullName, version, publisher, security, createdAt, published }: HeldVersion): string {
  const { verdict, score, findings } = security
  return `${id}  ${fullName}@${version}  ${verdict}, ${score} of 100, ${count(findings.length, 'finding')}  by ${publisher.username}, ${createdAt}${published ? ', published before' : ''}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
