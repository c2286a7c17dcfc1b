import { createHash } from 'node:crypto'
import type { SarifLog, ScanFinding, ScanReport } from '@skillstead/protocol'
import { allRules } from './rule-table.ts'
import type { Rule } from './rule.ts'

/** SARIF has three levels; GitHub's code scanning sorts by `security-severity`, from 0 to 10. */
const levels: Record<ScanFinding['severity'], { level: 'error' | 'warning' | 'note'; severity: string }> = {
  critical: { level: 'error', severity: '9.5' },
  high: { level: 'error', severity: '8.0' },
  medium: { level: 'warning', severity: '5.5' },
  low: { level: 'note', severity: '3.0' },
  info: { level: 'note', severity: '0.0' },
}

/** Converts a report to the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0). */
export function toSarif(report: ScanReport): SarifLog {
  const driver = { name: 'Skillstead', version: report.rulesVersion, rules: allRules.map(toSarifRule) }
  const { score, verdict, risk, cut, digest, source, scannedAt } = report
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true, endTimeUtc: scannedAt }],
        results: report.findings.map(toResult),
        properties: { score, verdict, risk, cut, digest, source },
      },
    ],
  }
}

function toSarifRule({ id, category, severity, title, why, remediation, references }: Omit<Rule, 'patterns'>) {
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

function toResult(finding: ScanFinding) {
  const { ruleId, severity, title, remediation, path, line, column, excerpt, signal, context, decoded } = finding
  return {
    ruleId,
    ruleIndex: allRules.findIndex(({ id }) => id === ruleId),
    level: levels[severity].level,
    message: { text: `${title}. ${remediation}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
          region: { startLine: line, startColumn: column, snippet: { text: excerpt } },
        },
      },
    ],
    // A passage stays the same result when lines are added above it.
    partialFingerprints: { 'passage/v1': toFingerprint(ruleId, path, excerpt) },
    ...(finding.suppressed && {
      suppressions: [{ kind: 'inSource', status: 'accepted', justification: finding.suppressed.reason }],
    }),
    properties: { severity, signal, ...context, decoded },
  }
}

function toFingerprint(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
