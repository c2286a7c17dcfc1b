import { createHash } from 'node:crypto'
import type { SarifLog, ScanFinding, ScanReport } from '@skillstead/protocol'
import type { AddedRules } from '../rules/added-rules.ts'
import { listRules, prepareRules } from '../rules/prepared-rules.ts'
import type { RuleHead } from '../rules/load-rules.ts'

/** SARIF has three levels; GitHub's code scanning sorts by `security-severity`, from 0 to 10. */
const levels: Record<ScanFinding['severity'], { level: 'error' | 'warning' | 'note'; severity: string }> = {
  critical: { level: 'error', severity: '9.5' },
  high: { level: 'error', severity: '8.0' },
  medium: { level: 'warning', severity: '5.5' },
  low: { level: 'note', severity: '3.0' },
  info: { level: 'note', severity: '0.0' },
}

/** Converts a report to the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0). */
export function toSarif(report: ScanReport, added?: AddedRules): SarifLog {
  const { score, verdict, risk, cut, digest, source, scannedAt } = report
  return toSarifLog(added, {
    invocations: [{ executionSuccessful: true, endTimeUtc: scannedAt }],
    results: report.findings.map((finding) =>
      toSarifResult(finding, finding.path, toRegion(finding, { uri: toUri(finding.path) }), added),
    ),
    properties: { score, verdict, risk, cut, digest, source },
  })
}

/** A log with one run, which has all rules and the fields of `run`. */
export function toSarifLog(added: AddedRules | undefined, run: object): SarifLog {
  const { version } = prepareRules(added)
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Skillstead', version, rules: listRules(added).map(toSarifRule) } },
        columnKind: 'utf16CodeUnits',
        ...run,
      },
    ],
  }
}

function toSarifRule({ id, category, severity, title, why, remediation, references }: RuleHead) {
  const list = references.map((address) => `- <${address}>`).join('\n')
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: why },
    help: { text: remediation, markdown: [why, remediation, list].filter(Boolean).join('\n\n') },
    ...(references[0] && { helpUri: references[0] }),
    defaultConfiguration: { level: levels[severity].level },
    properties: { category, 'security-severity': levels[severity].severity, tags: ['security', category] },
  }
}

/** The result of a finding. `name` identifies its file, `location` says where it is. */
export function toSarifResult(finding: ScanFinding, name: string, location: object, added?: AddedRules) {
  const { ruleId, severity, title, remediation, excerpt, signal, context, decoded, suppressed } = finding
  const passage = createHash('sha256').update(JSON.stringify([ruleId, name, excerpt]))
  return {
    ruleId,
    ruleIndex: listRules(added).findIndex(({ id }) => id === ruleId),
    // A passage that is no instruction is no failure; such results have no level.
    ...(signal === 'none' ? { kind: 'informational', level: 'none' } : { level: levels[severity].level }),
    message: { text: `${title}. ${remediation}` },
    locations: [location],
    // A passage stays the same result when lines are added above it.
    partialFingerprints: { 'passage/v1': passage.digest('hex').slice(0, 32) },
    ...(suppressed && { suppressions: [{ kind: 'inSource', status: 'accepted', justification: suppressed.reason }] }),
    properties: { severity, signal, ...context, decoded },
  }
}

/** The location of a finding in a file. */
export function toRegion({ line, column, excerpt }: ScanFinding, artifactLocation: object) {
  const region = { startLine: line, startColumn: column, snippet: { text: excerpt } }
  return { physicalLocation: { artifactLocation, region } }
}

/** A path as a relative URI. */
export function toUri(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
