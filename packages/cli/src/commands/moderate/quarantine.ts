import { toOneLine, type QuarantinedVersion, verdictWords } from '@skillstead/protocol'
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
      ...quarantined.reviews.map(({ username, verdict }) => `  ${username}: ${verdict.replace('_', ' ')}`),
      ...quarantined.comments.map(
        ({ username, path, line, body }) =>
          `  ${username}${path === null ? '' : ` on ${toOneLine(path)}${line === null ? '' : `:${line}`}`}: ${toOneLine(body)}`,
      ),
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
  'quarantine diff': endpointCommand('diffQuarantined', {
    description: 'Compare a quarantined version with the latest published version.',
    words: { ID: 'id' },
    show: ({ since, files }) => [
      since === null ? 'No version is published yet.' : `Since ${since}:`,
      ...files.flatMap(({ path, status, diff }) => diff?.trimEnd().split('\n') ?? [`${status} ${toOneLine(path)}`]),
    ],
  }),
  'quarantine review': endpointCommand('reviewQuarantined', {
    description: 'Approve a version that waits for reviewers, or request changes. The last approval publishes it.',
    words: { ID: 'id', VERDICT: 'verdict' },
    actor: 'reviewer',
    show: ({ fullName, version, created, approvals, reason }) => [
      created
        ? `${fullName}@${version} is published.`
        : reason === 'policy'
          ? `${fullName}@${version} waits for an administrator because of its scan.`
          : `${fullName}@${version} has ${approvals!.given} of ${approvals!.needed} approvals${approvals!.changesRequested ? '; changes are requested' : ''}.`,
    ],
  }),
  'quarantine comment': endpointCommand('commentQuarantined', {
    description: 'Comment on a version that waits for reviewers, or on a line of one of its files.',
    words: { ID: 'id', TEXT: 'body' },
    options: {
      path: { value: 'PATH', help: 'the file' },
      line: { value: 'N', help: 'the line of the file' },
    },
    actor: 'reviewer or author',
    toResult: (answer, { id }) => ({ ...answer, on: id }),
    show: ({ on }) => [`Commented on ${on}.`],
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
  reason,
  approvals,
}: QuarantinedVersion): string {
  const { verdict, score, findings } = security
  return `${id}  ${fullName}@${version}  ${verdictWords[verdict]}, ${score} of 100, ${toCount(findings.length, 'finding')}${change && change.verdict !== 'safe' ? `, change ${change.verdict}` : ''}  by ${publisher.username}, ${createdAt}${toReasonText(reason, approvals)}`
}

function toReasonText(reason: QuarantinedVersion['reason'], approvals: QuarantinedVersion['approvals']): string {
  if (reason === 'rescan') return ', published before'
  return approvals ? `, ${approvals.given} of ${approvals.needed} approvals` : ''
}
