import { toOneLine, type QuarantinedVersion } from '@skillstead/protocol'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'
import { toChangeLines, toChangeText } from '../../scan/change.ts'
import { toShortFindingLines } from '../../scan/verdict.ts'
import { toCount } from '../../terminal/output.ts'

export const commands = {
  'quarantine list': endpointList('listQuarantined', {
    description: 'List quarantined versions, oldest first.',
    rows: 'quarantined',
    toLines: toQuarantineLine,
  }),
  'quarantine show': endpointCommand('getQuarantined', {
    description: 'Show a quarantined version with its scan findings and what it changes.',
    words: { ID: 'id' },
    show: (quarantined) => [
      toQuarantineLine(quarantined),
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
  'quarantine release': endpointCommand('releaseQuarantined', {
    description: 'Release a quarantined version: publish it with the visibility that its publisher requested.',
    words: { ID: 'id' },
    toResult: ({ skill, version }) => ({ fullName: skill.fullName, version: version.version }),
    show: ({ fullName, version }) => [`${fullName}@${version} is published.`],
  }),
  'quarantine refuse': endpointCommand('deleteQuarantined', {
    description: 'Refuse a quarantined version and delete it.',
    words: { ID: 'id' },
    options: { note: { value: 'TEXT', help: 'the reason, for the audit log' } },
    toResult: (_, { id }) => ({ refused: id }),
    show: ({ refused }) => [`Refused and deleted ${refused}.`],
  }),
  rescan: endpointCommand('startRescan', {
    description: 'Scan every stored version again on the running node, or on the next one that starts.',
    show: ({ waiting }) => [`${toCount(waiting, 'version')} will be scanned again.`],
  }),
}

function toQuarantineLine({
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
