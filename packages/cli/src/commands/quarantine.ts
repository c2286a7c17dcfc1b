import { toOneLine, type QuarantinedVersion } from '@skillstead/protocol'
import { text } from '../command/command.ts'
import { apiCommand, listCommand } from '../registry/api-command.ts'
import { toChangeLines, toChangeText } from '../scan/change.ts'
import { toShortFindingLines } from '../scan/verdict.ts'
import { toCount } from '../terminal/output.ts'

export const commands = {
  'quarantine list': listCommand({
    description: 'List quarantined versions, oldest first.',
    rows: 'quarantined',
    call: (api, page) => api.listQuarantined(page),
    toLines: toLine,
  }),
  'quarantine show': apiCommand({
    description: 'Show a quarantined version with its scan findings and what it changes.',
    words: ['ID'],
    call: (api, { words: [id] }) => api.getQuarantined({ id }),
    show: (quarantined) => [
      toLine(quarantined),
      ...quarantined.files.map(({ path, size, digest }) => `  ${toOneLine(path)}  ${size} bytes  ${digest}`),
      ...quarantined.security.findings.flatMap(toShortFindingLines),
      ...(quarantined.change
        ? [
            `  Change: ${toChangeText(quarantined.change)}`,
            ...toChangeLines(quarantined.change).map((line) => `    ${line}`),
          ]
        : []),
    ],
  }),
  'quarantine release': apiCommand({
    description: 'Release a quarantined version: publish it with the visibility that its publisher requested.',
    words: ['ID'],
    async call(api, { words: [id] }) {
      const { skill, version } = await api.releaseQuarantined({ id })
      return { fullName: skill.fullName, version: version.version }
    },
    show: ({ fullName, version }) => [`${fullName}@${version} is published.`],
  }),
  'quarantine refuse': apiCommand({
    description: 'Refuse a quarantined version and delete it.',
    words: ['ID'],
    options: { note: { value: 'TEXT', help: 'the reason, for the audit log' } },
    async call(api, given) {
      const [id] = given.words
      await api.deleteQuarantined({ id, note: text(given, 'note') })
      return { refused: id }
    },
    show: ({ refused }) => [`Refused and deleted ${refused}.`],
  }),
  rescan: apiCommand({
    description: 'Scan every stored version again on the running node, or on the next one that starts.',
    call: (api) => api.startRescan({}),
    show: ({ waiting }) => [`${toCount(waiting, 'version')} will be scanned again.`],
  }),
}

function toLine({
  id,
  fullName,
  version,
  publisher,
  security,
  change,
  createdAt,
  published,
}: QuarantinedVersion): string {
  const { verdict, score, findings } = security
  return `${id}  ${fullName}@${version}  ${verdict}, ${score} of 100, ${toCount(findings.length, 'finding')}${change && change.verdict !== 'safe' ? `, change ${change.verdict}` : ''}  by ${publisher.username}, ${createdAt}${published ? ', published before' : ''}`
}
