import { type FieldError, RegistryError, type ScanFinding, type Security, type Warning } from '@skillstead/protocol'

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

/** The action for versions whose scan verdict is not `safe`. Default: `warn`. */
export interface ScanPolicy {
  readonly caution?: PolicyAction
  readonly dangerous?: PolicyAction
}

/** Maximum findings per response to a publisher; the report has all. */
const findingsShownMax = 10

/** The scan result that a policy judges. Findings in text outside files cannot be suppressed by the author. */
type Judged = Pick<Security, 'verdict'> & Partial<Pick<Security, 'findings'>>

export function toAction(policy: ScanPolicy, scan: Judged): PolicyAction {
  const verdict = toPolicyVerdict(scan)
  return verdict === 'safe' ? 'warn' : (policy[verdict] ?? 'warn')
}

/** The verdict without the author's suppressions, which only an administrator's release accepts. */
export function toPolicyVerdict({ verdict, findings = [] }: Judged): Security['verdict'] {
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

/** The error for a version that the policy refuses; it names the location of each finding. */
export function toScanRefusal(scan: Security): RegistryError {
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

/** The findings that affect the verdict, including those that the author suppressed. */
export function findAlarming(findings: readonly ScanFinding[]): ScanFinding[] {
  return findings.filter(({ signal }) => signal === 'hostile' || signal === 'suspicious')
}
