import { RegistryError, type Security, type Warning } from '@skillstead/protocol'

export const policyActions = ['warn', 'hold', 'refuse'] as const

/** `warn`: is published with warnings. `hold`: waits for an administrator. `refuse`: is not taken. */
export type PolicyAction = (typeof policyActions)[number]

/** What is done with a version whose scan says more than `safe`; `warn` where nothing is said. */
export interface ScanPolicy {
  readonly caution?: PolicyAction
  readonly dangerous?: PolicyAction
}

/** Of the findings of one version so many are told to its publisher; the report has them all. */
const findingsToldMax = 10

/** What the policy does with a version. */
export function toAction(policy: ScanPolicy, scan: Security): PolicyAction {
  const verdict = toPolicyVerdict(scan)
  return verdict === 'safe' ? 'warn' : (policy[verdict] ?? 'warn')
}

/**
 * The verdict as the policy sees it: without the author's suppressions, which lift `caution` alone. An administrator
 * grants them by releasing the version.
 */
export function toPolicyVerdict({ verdict, findings }: Security): Security['verdict'] {
  const isLifted = verdict === 'safe' && findings.some(({ signal, suppressed }) => signal === 'suspicious' && suppressed)
  return isLifted ? 'caution' : verdict
}

/** What the publisher of a version is told of its scan. */
export function toScanWarnings(scan: Security): Warning[] {
  const told = findAlarming(scan).filter(({ suppressed }) => !suppressed)
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
  const alarming = findAlarming(scan)
  const found = (alarming.length > 0 ? alarming : scan.findings).slice(0, findingsToldMax)
  const errors = found.map(({ path, line, title, remediation }) => ({
    path: `${path}:${line}`,
    message: `${title}. ${remediation}`,
  }))
  const places = errors.map(({ path }) => path).join(', ')
  const detail = `The scan calls this version ${toPolicyVerdict(scan)}, which this registry does not take. Look at ${places || 'its files'}.`
  return new RegistryError('invalid_skill', detail, { errors })
}

function findAlarming({ findings }: Security) {
  return findings.filter(({ signal }) => signal === 'hostile' || signal === 'suspicious')
}
