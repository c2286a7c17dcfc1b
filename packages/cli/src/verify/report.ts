import type { ProvenanceReport } from '@skillstead/client/verify'
import type { SshKey } from '@skillstead/core/internal'
import { type EvaluationEntry, type PublisherIdentity, toOneLine } from '@skillstead/protocol'
import { toFactLines } from '../terminal/output.ts'

/** The result of `skillstead verify`; `problems` lists mismatches. */
export type Verification = Awaited<ReturnType<typeof toVerification>>

/** Converts the report on a record, and verifies the signatures of results; `checked` is the requested name or file. */
export async function toVerification(checked: string, report: ProvenanceReport) {
  if (!report.ok) {
    const problems = report.problems.map(({ part, message }): Problem => ({ part, message }))
    return { ok: false, checked, problems } as const
  }
  const { keys, problems } = await verifySigned(report.evaluations)
  if (problems.length > 0) return { ok: false, checked, problems } as const
  const { provenance, entry, signers, contentChecked, evaluations, unproven } = report
  const { skill, version, digest, publisher, publishedAt, log, forkChain } = provenance
  return {
    ok: true,
    fullName: skill.fullName,
    version,
    digest,
    publisher: publisher.username,
    // The log proves the time of publication, which the record itself does not repeat.
    identity: entry?.data.identity ?? null,
    publishedAt,
    // Empty if the record is signed by a mirror whose key was not given.
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
      signedBy: keys.get(seq) ?? null,
      entry: seq,
    })),
  } as const
}

export interface Problem {
  readonly part: string
  readonly message: string
}

/** The keys that signed results, by the number of the entry, and what is wrong with other signatures. */
async function verifySigned(entries: readonly EvaluationEntry[]) {
  const keys = new Map<number, SshKey>()
  const problems: Problem[] = []
  const signed = entries.filter(({ data }) => data.result.signature !== undefined)
  if (signed.length === 0) return { keys, problems }
  const { findSignatureProblem, readSshKey } = await import('@skillstead/core/internal')
  for (const { seq, digest, data } of signed) {
    const { author, skill, version, result } = data
    const problem = findSignatureProblem({ author: author.username, skill: skill.id, version, digest }, result)
    if (problem === undefined) keys.set(seq, readSshKey(result.signature!))
    else problems.push({ part: 'evaluation', message: `The signature of the result of ${author.username} ${problem}` })
  }
  return { keys, problems }
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
  const isStated = result.evaluations.some((one) => !one.signedBy)
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
    ['not signed', log && isStated ? `results without a key: ${log.origin} states who posted them` : ''],
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
  signedBy,
  entry,
}: (Verification & { ok: true })['evaluations'][number]): string {
  const without = withoutSkill ? `, ${withoutSkill.passed} of ${withoutSkill.runs} without` : ''
  const signed = signedBy ? `, signed by key ${signedBy.fingerprint}` : ''
  return `${author} with ${model}: ${withSkill.passed} of ${withSkill.runs} runs passed${without}${signed} (entry ${entry})`
}

const unsigned = 'by a mirror whose key was not given; the log of the publishing node proves the version'
const noLog = 'none: the skill is not public, as the signature confirms'

function toIdentityText({ issuer, claims }: PublisherIdentity): string {
  const named = Object.entries(claims).map(([name, value]) => `${name} ${value}`)
  return toOneLine(`${named.join(', ')}; issuer ${issuer}`)
}
