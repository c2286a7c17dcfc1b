import type { ProvenanceReport, UnprovenField, VerifiedPart } from '@skillstead/client/verify'
import { toOneLine, type Provenance } from '@skillstead/protocol'

/** The result of `skillstead verify`; `problems` lists mismatches. */
export type Verification =
  | {
      readonly ok: true
      readonly fullName: string
      readonly version: string
      readonly digest: string
      readonly publisher: string
      readonly publishedAt: string
      /** Keys that signed the record, as `<name>+<hash>`; empty if a mirror signed it whose key was not given. */
      readonly signedBy: readonly string[]
      /** Fields of the record that no signature or log entry proves; the mirror alone states them. */
      readonly unproven: readonly UnprovenField[]
      readonly contentChecked: boolean
      readonly log: { origin: string; index: number; treeSize: number; loggedAs: string; loggedAt: string } | null
      readonly forkChain: Provenance['forkChain']
    }
  | {
      readonly ok: false
      readonly checked: string
      readonly problems: readonly { readonly part: VerifiedPart; readonly message: string }[]
    }

/** Converts the report on a record; `checked` is the requested name or file. */
export function toVerification(checked: string, report: ProvenanceReport): Verification {
  if (!report.ok)
    return { ok: false, checked, problems: report.problems.map(({ part, message }) => ({ part, message })) }
  const { provenance, entry, signers, contentChecked, unproven } = report
  const { skill, version, digest, publisher, publishedAt, log, forkChain } = provenance
  return {
    ok: true,
    fullName: skill.fullName,
    version,
    digest,
    publisher: publisher.username,
    publishedAt,
    signedBy: signers.map(({ name, hash }) => `${name}+${hash}`),
    unproven,
    contentChecked,
    log: log &&
      entry && {
        origin: log.origin,
        index: log.index,
        treeSize: log.treeSize,
        loggedAs: entry.data.skill.fullName,
        loggedAt: entry.at,
      },
    forkChain,
  }
}

/** The result as lines of text. Values of a record are untrusted text, also if its signature is valid. */
export function showVerification(result: Verification): string[] {
  if (!result.ok) {
    return [
      `${toOneLine(result.checked)} failed verification:`,
      ...result.problems.map(({ part, message }) => `  ${part.padEnd(11)} ${toOneLine(message)}`),
    ]
  }
  const { fullName, version, digest, publisher, publishedAt, signedBy, contentChecked, log, unproven } = result
  const forkChain = unproven.includes('forkChain') ? [] : result.forkChain
  const facts = [
    ['digest', digest],
    ['content', contentChecked ? 'matches the digest' : 'was not checked; pass it with --content'],
    ['published', `${publishedAt} by ${publisher}`],
    ['signature', signedBy.length > 0 ? `by ${signedBy.join(' and ')}` : unsigned],
    [
      'log',
      log ? `entry ${log.index + 1} of ${log.treeSize} in the log of ${log.origin}, since ${log.loggedAt}` : noLog,
    ],
    ['logged as', log && log.loggedAs !== fullName ? `${log.loggedAs}, its name at that time` : ''],
    ['forked from', forkChain.map((source) => `${source.fullName}@${source.version}`).join(', from ')],
    ['not proven', unproven.length > 0 ? `${unproven.join(', ')}: stated only by the mirror` : ''],
  ]
  return [
    `${toOneLine(fullName)}@${version} matches its record.`,
    ...facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name!.padEnd(11)} ${toOneLine(value!)}`),
  ]
}

const unsigned = 'by a mirror whose key was not given; the log of the publishing node proves the version'
const noLog = 'none: the skill is not public, as the signature confirms'
