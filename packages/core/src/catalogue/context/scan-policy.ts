import {
  type Change,
  type FieldError,
  type Opinion,
  RegistryError,
  type ScanFinding,
  type Security,
  type Warning,
} from '@skillstead/protocol'
import { worstVerdict } from '@skillstead/scanner'

/**
 * The actions of a scan policy, for forms and the validation of options: see {@link PolicyAction}.
 *
 * @example
 * const registry = await openRegistry({ path: 'skills.db', scanPolicy: { dangerous: 'quarantine' } })
 * if (!policyActions.some((action) => action === given)) throw new TypeError(`Use one of ${policyActions.join(', ')}.`)
 */
export const policyActions = ['warn', 'quarantine', 'refuse'] as const

/** `warn`: publish with warnings. `quarantine`: wait for an administrator. `refuse`: reject. */
export type PolicyAction = (typeof policyActions)[number]

/**
 * The action for versions whose verdict is not `safe`. That verdict is the worst of the verdicts on the content and the
 * change of a version, and of the second opinion. Default: `warn`.
 */
export interface ScanPolicy {
  readonly caution?: PolicyAction
  readonly dangerous?: PolicyAction
  /** Whether the opinion `safe` of a second service clears the verdict `caution` for this policy. Default: false. */
  readonly opinionClears?: boolean
}

/** The verdicts on a version that do not come from the scan of its content. */
interface Advice {
  readonly change: Change | null
  readonly opinion: Opinion | null
}

/** Whether a policy quarantines or refuses any version. */
export function canExclude({ caution = 'warn', dangerous = 'warn' }: ScanPolicy): boolean {
  return caution !== 'warn' || dangerous !== 'warn'
}

/** Maximum findings per response to a publisher; the report has all findings. */
const findingsShownMax = 10

/** The scan result that a policy judges, without findings in text outside files, which the author cannot suppress. */
type Judged = Pick<Security, 'verdict'> & Partial<Pick<Security, 'findings'>>

/** The action for the worst of the verdicts on a version. */
export function toPolicyAction(policy: ScanPolicy, scan: Judged, advice?: Advice): PolicyAction {
  const verdict = toJudgedVerdict(policy, scan, advice)
  return verdict === 'safe' ? 'warn' : (policy[verdict] ?? 'warn')
}

/**
 * The worst of the verdicts on a version's content and on what it changes, and of the second opinion. An opinion clears
 * only the verdict of the scan: the service sees neither the change nor the suppressed findings.
 */
export function toJudgedVerdict(policy: ScanPolicy, scan: Judged, advice?: Advice): Security['verdict'] {
  const opinion = advice?.opinion?.verdict ?? 'safe'
  const isCleared = policy.opinionClears && advice?.opinion?.verdict === 'safe' && scan.verdict === 'caution'
  const content = toPolicyVerdict(isCleared ? { ...scan, verdict: 'safe' } : scan)
  return worstVerdict(worstVerdict(content, advice?.change?.verdict ?? 'safe'), opinion)
}

/** The verdict, but `caution` in place of `safe` if a suspicious finding is suppressed: authors may not dismiss these. */
function toPolicyVerdict({ verdict, findings = [] }: Judged): Security['verdict'] {
  const isLifted =
    verdict === 'safe' && findings.some(({ signal, suppressed }) => signal === 'suspicious' && suppressed)
  return isLifted ? 'caution' : verdict
}

/** The scan warnings for the publisher of a version. */
export function toScanWarnings({ findings }: { readonly findings: readonly ScanFinding[] }): Warning[] {
  const shown = findAlarming(findings).filter(({ suppressed }) => !suppressed)
  const warnings: Warning[] = shown.slice(0, findingsShownMax).map(({ path, line, title, remediation }) => ({
    code: 'scan',
    message: `${path}:${line}: ${title}. ${remediation}`,
    ...(path === 'SKILL.md' && { line }),
  }))
  const more = shown.length - warnings.length
  return more > 0 ? [...warnings, { code: 'scan', message: `The scan found ${more} more problems.` }] : warnings
}

/** The warnings about the second opinion and about the changes of a version, except passages that the scan warns of. */
export function toAdviceWarnings({ change, opinion }: Advice): Warning[] {
  const findings = change?.findings ?? []
  const changes = findings
    .filter(({ ruleId, signal }) => signal === 'suspicious' && ruleId !== 'adds-findings')
    .map(({ title, items, remediation }) => ({
      code: 'change',
      message: `Compared with ${change!.since}: ${title} (${items.join('; ')}). ${remediation}`,
    }))
  return opinion && opinion.verdict !== 'safe'
    ? [...changes, { code: 'opinion', message: toOpinionSentence(opinion) }]
    : changes
}

function toOpinionSentence({ verdict, source, reasons }: Opinion): string {
  return `The second opinion of ${source} is ${verdict}${reasons.length > 0 ? `: ${reasons.join(' ')}` : '.'}`
}

/** The error for a version that the policy refuses: for its content, for what it changes, or for the second opinion. */
export function toPolicyRefusal(policy: ScanPolicy, scan: Security, { change, opinion }: Advice): RegistryError {
  if (toPolicyAction(policy, scan) === 'refuse') return toScanVerdictRefusal(scan)
  if (!change || (opinion && toPolicyAction(policy, scan, { change, opinion: null }) !== 'refuse')) {
    const detail = `This registry does not accept the version. ${opinion ? toOpinionSentence(opinion) : ''}`
    return new RegistryError('invalid_skill', detail, { errors: [{ path: 'skillMd', message: detail }] })
  }
  const { since, verdict, findings } = change
  const errors = findings
    .filter(({ signal }) => signal !== 'power')
    .map(({ title, items, path, line }) => ({
      path: path === null ? 'skillMd' : `${path}:${line}`,
      message: `${title}: ${items.join('; ')}`,
    }))
  const reasons = errors.map(({ message }) => message).join('. ')
  const detail = `The change since ${since} is rated ${verdict}, which this registry does not accept. ${reasons}.`
  return new RegistryError('invalid_skill', detail, { errors })
}

/** The error for a version that the policy refuses. The error names the location of each finding. */
function toScanVerdictRefusal(scan: Security): RegistryError {
  const alarming = findAlarming(scan.findings)
  const errors = toScanErrors(alarming.length > 0 ? alarming : scan.findings)
  const places = errors.map(({ path }) => path).join(', ')
  const detail = `The scan rates this version ${toPolicyVerdict(scan)}, which this registry does not accept. Check ${places || 'its files'}.`
  return new RegistryError('invalid_skill', detail, { errors })
}

/** The first findings as field errors, named by their locations. */
export function toScanErrors(findings: readonly ScanFinding[]): FieldError[] {
  return findings.slice(0, findingsShownMax).map(({ path, line, title, remediation }) => ({
    path: `${path}:${line}`,
    message: `${title}. ${remediation}`,
  }))
}

/** The findings that affect the verdict, including findings that the author suppressed. */
export function findAlarming(findings: readonly ScanFinding[]): ScanFinding[] {
  return findings.filter(({ signal }) => signal === 'hostile' || signal === 'suspicious')
}
