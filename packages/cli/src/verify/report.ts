import type { ProvenanceReport, UnprovenField, VerifiedPart } from '@skillstead/client/verify'
import type { Provenance } from '@skillstead/protocol'
import { toOneLine } from '../output.ts'

/** What `skillstead verify` found out; `problems` say why not everything matches. */
export type Verification =
  | {
      readonly ok: true
      readonly fullName: string
      readonly version: string
      readonly digest: string
      readonly publisher: string
      readonly publishedAt: string
      /** The keys that signed the record, as `<name>+<hash>`; none where a mirror did whose key was not given. */
      readonly signedBy: readonly string[]
      /** Fields of the record that only the mirror says. */
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

/** The report on a record as a result; `checked` is the name or file that was asked for. */
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

/** The result in lines. What a record says is a stranger's word, also where its signature is good. */
export function showVerification(result: Verification): string[] {
  if (!result.ok) {
    return [
      `${toOneLine(result.checked)} is not what it should be:`,
      ...result.problems.map(({ part, message }) => `  ${part.padEnd(11)} ${toOneLine(message)}`),
    ]
  }
  const { fullName, version, digest, publisher, publishedAt, signedBy, contentChecked, log, unproven } = result
  const forkChain = unproven.includes('forkChain') ? [] : result.forkChain
  const facts = [
    ['digest', digest],
    ['content', contentChecked ? 'matches the digest' : 'was not checked; give it with --content'],
    ['published', `${publishedAt} by ${publisher}`],
    ['signature', signedBy.length > 0 ? `by ${signedBy.join(' and ')}` : unsigned],
    ['log', log ? `entry ${log.index + 1} of ${log.treeSize} in that of ${log.origin}, since ${log.loggedAt}` : noLog],
    ['logged as', log && log.loggedAs !== fullName ? `${log.loggedAs}, which was its name then` : ''],
    ['forked from', forkChain.map((source) => `${source.fullName}@${source.version}`).join(', from ')],
    ['not proven', unproven.length > 0 ? `${unproven.join(', ')}: only the mirror says them` : ''],
  ]
  return [
    `${toOneLine(fullName)}@${version} is what its record says.`,
    ...facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name!.padEnd(11)} ${toOneLine(value!)}`),
  ]
}

const unsigned = 'by a mirror, whose key was not given; the log of the node it was published to proves the version'
const noLog = 'in none, for it is not public; the signature says so'
