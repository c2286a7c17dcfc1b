import type { ProvenanceReport } from '@skillstead/client/verify'
import { type PublisherIdentity, toOneLine } from '@skillstead/protocol'
import { toFactLines } from '../terminal/output.ts'

/** The result of `skillstead verify`; `problems` lists mismatches. */
export type Verification = ReturnType<typeof toVerification>

/** Converts the report on a record; `checked` is the requested name or file. */
export function toVerification(checked: string, report: ProvenanceReport) {
  if (!report.ok) {
    const problems = report.problems.map(({ part, message }) => ({ part, message }))
    return { ok: false, checked, problems } as const
  }
  const { provenance, entry, signers, contentChecked, evaluations, unproven } = report
  const { skill, version, digest, publisher, publishedAt, log, forkChain } = provenance
  return {
    ok: true,
    fullName: skill.fullName,
    version,
    digest,
    publisher: publisher.username,
    // The log proves it: the record itself does not repeat it.
    identity: entry?.data.identity ?? null,
    publishedAt,
    // Empty if a mirror signed it whose key was not given.
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
    evaluations: evaluations.map(({ seq, data }) => ({
      author: data.author.username,
      identity: data.identity ?? null,
      ...data.result,
      entry: seq,
    })),
  } as const
}

/** The result as lines of text. Values of a record are untrusted text, also if its signature is valid. */
export function showVerification(result: Verification): string[] {
  if (!result.ok) {
    return [
      `${toOneLine(result.checked)} failed verification:`,
      ...result.problems.map(({ part, message }) => `  ${part.padEnd(11)} ${toOneLine(message)}`),
    ]
  }
  const { fullName, version, digest, publisher, identity, publishedAt, signedBy, contentChecked, log, unproven } =
    result
  const forkChain = unproven.includes('forkChain') ? [] : result.forkChain
  const facts: [string, string][] = [
    ['digest', digest],
    ['content', contentChecked ? 'matches the digest' : 'was not checked; pass it with --content'],
    ['published', `${publishedAt} by ${publisher}`],
    ['from CI', identity ? toIdentityText(identity) : ''],
    ['signature', signedBy.length > 0 ? `by ${signedBy.join(' and ')}` : unsigned],
    [
      'log',
      log ? `entry ${log.index + 1} of ${log.treeSize} in the log of ${log.origin}, since ${log.loggedAt}` : noLog,
    ],
    ['logged as', log && log.loggedAs !== fullName ? `${log.loggedAs}, its name at that time` : ''],
    ...result.evaluations.map((one): [string, string] => ['evaluation', toEvaluationText(one)]),
    ['stated by', log && result.evaluations.length > 0 ? `${log.origin}: users do not sign their results` : ''],
    ['forked from', forkChain.map((source) => `${source.fullName}@${source.version}`).join(', from ')],
    ['not proven', unproven.length > 0 ? `${unproven.join(', ')}: stated only by the mirror` : ''],
  ]
  return [`${toOneLine(fullName)}@${version} matches its record.`, ...toFactLines(facts)]
}

function toEvaluationText({
  author,
  model,
  withSkill,
  withoutSkill,
  entry,
}: (Verification & { ok: true })['evaluations'][number]): string {
  const without = withoutSkill ? `, ${withoutSkill.passed} of ${withoutSkill.runs} without` : ''
  return `${author} with ${model}: ${withSkill.passed} of ${withSkill.runs} runs passed${without} (entry ${entry})`
}

const unsigned = 'by a mirror whose key was not given; the log of the publishing node proves the version'
const noLog = 'none: the skill is not public, as the signature confirms'

function toIdentityText({ issuer, claims }: PublisherIdentity): string {
  const named = Object.entries(claims).map(([name, value]) => `${name} ${value}`)
  return toOneLine(`${named.join(', ')}; issuer ${issuer}`)
}
