import type { SarifLog, ScanFinding, ScanReport } from '@skillstead/protocol'
import { rules, type Rule } from './rules.ts'

/** SARIF knows three levels; `security-severity` is what GitHub's code scanning sorts by, from 0 to 10. */
const levels: Record<ScanFinding['severity'], { level: 'error' | 'warning' | 'note'; severity: string }> = {
  critical: { level: 'error', severity: '9.5' },
  high: { level: 'error', severity: '8.0' },
  medium: { level: 'warning', severity: '5.5' },
  low: { level: 'note', severity: '3.0' },
  info: { level: 'note', severity: '0.0' },
}

/** A report in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0), for tools that collect such. */
export function toSarif(report: ScanReport): SarifLog {
  const driver = { name: 'Skillstead', version: report.rulesVersion, rules: rules.map(toSarifRule) }
  const { score, verdict, digest, source, scannedAt } = report
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true, endTimeUtc: scannedAt }],
        results: report.findings.map(toResult),
        properties: { score, verdict, digest, source },
      },
    ],
  }
}

function toSarifRule({ id, category, severity, title, remediation }: Rule) {
  return {
    id,
    shortDescription: { text: title },
    help: { text: remediation },
    defaultConfiguration: { level: levels[severity].level },
    properties: { category, 'security-severity': levels[severity].severity, tags: ['security', category] },
  }
}

function toResult({ ruleId, severity, title, remediation, path, line, column, excerpt }: ScanFinding) {
  return {
    ruleId,
    ruleIndex: rules.findIndex(({ id }) => id === ruleId),
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
    properties: { severity },
  }
}
