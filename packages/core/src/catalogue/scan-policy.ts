import { RegistryError, type FieldError, type ScanFinding, type Security, type Warning } from '@skillstead/protocol'

export const policyActions = ['warn', 'quarantine', 'refuse'] as const

/** `warn`: is published with warnings. `quarantine`: waits for an administrator. `refuse`: is not taken. */
export type PolicyAction = (typeof policyActions)[number]

/** What is done with a version whose scan says more than `safe`; `warn` where nothing is said. */
export interface ScanPolicy {
  readonly caution?: PolicyAction
  readonly dangerous?: PolicyAction
}

/** Of the findings of one version so many are told to its publisher; the report has them all. */
const findingsToldMax = 10

/** What a policy looks at; text that is no file has no findings that an author could suppress. */
type Judged = Pick<Security, 'verdict'> & Partial<Pick<Security, 'findings'>>

/** What the policy does with a version. */
export function toAction(policy: ScanPolicy, scan: Judged): PolicyAction {
  const verdict = toPolicyVerdict(scan)
  return verdict === 'safe' ? 'warn' : (policy[verdict] ?? 'warn')
}

/**
 * The verdict as the policy sees it: without the author's suppressions, which lift `caution` alone. An administrator
 * grants them by releasing the version.
 */
export function toPolicyVerdict({ verdict, findings = [] }: Judged): Security['verdict'] {
  const isLifted =
    verdict === 'safe' && findings.some(({ signal, suppressed }) => signal === 'suspicious' && suppressed)
  return isLifted ? 'caution' : verdict
}

/** What the publisher of a version is told of its scan. */
export function toScanWarnings({ findings }: { readonly findings: readonly ScanFinding[] }): Warning[] {
  const told = findAlarming(findings).filter(({ suppressed }) => !suppressed)
  const warnings: Warning[] = told.slice(0, findingsToldMax).map(({ path, line, title, remediation }) => ({
    code: 'scan',
    message: `${path}:${line}: ${title}. ${remediation}`,
    ...(path === 'SKILL.md' && { line }),
  }))
  const more = told.length - warnings.length
  return more > 0 ? [...warnings, { code: 'scan', message: `The scan found ${more} more.` }] : warnings
}

/** The refusal of a version by the policy; it names every finding by its place. */
export function toScanRefusal(scan: Security): RegistryError {
  const alarming = findAlarming(scan.findings)
  const errors = toScanErrors(alarming.length > 0 ? alarming : scan.findings)
  const places = errors.map(({ path }) => path).join(', ')
  const detail = `The scan calls this version ${toPolicyVerdict(scan)}, which this registry does not take. Look at ${places || 'its files'}.`
  return new RegistryError('invalid_skill', detail, { errors })
}

/** The findings as the fields at fault of a refusal: by their places, the first ones. */
export function toScanErrors(findings: readonly ScanFinding[]): FieldError[] {
  return findings.slice(0, findingsToldMax).map(({ path, line, title, remediation }) => ({
    path: `${path}:${line}`,
    message: `${title}. ${remediation}`,
  }))
}

/** The findings that speak against a version, with those that its author suppressed. */
export function findAlarming(findings: readonly ScanFinding[]): ScanFinding[] {
  return findings.filter(({ signal }) => signal === 'hostile' || signal === 'suspicious')
}
