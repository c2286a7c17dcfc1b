import { toOneLine, type ScanFinding, type Security } from '@skillstead/protocol'
import { allRules } from '../rule-table.ts'
import { toVerdictText } from '../score.ts'
import type { Line } from './scan-output.ts'

const verdictStyles = { safe: 'good', caution: 'warning', dangerous: 'bad' } as const

/** A scan as lines of text: the verdict, then for each finding the place, the text, the reason and the fix. */
export function toScanLines(
  id: string,
  report: Pick<Security, 'verdict' | 'risk' | 'score' | 'findings' | 'cut'>,
): Line[] {
  const { verdict } = report
  return [
    { text: `${toOneLine(id)}: ${toVerdictText(report)}`, style: verdictStyles[verdict] },
    ...toFindingsLines(report),
  ]
}

/** The findings of a scan, and the content that was not scanned. */
export function toFindingsLines({ findings, cut }: Pick<Security, 'findings' | 'cut'>): string[] {
  return [
    ...findings.flatMap(toFindingLines),
    ...cut.map(({ path, reason }) => `  ${toOneLine(path)}: partly scanned: ${toOneLine(reason)}`),
  ]
}

const reasons: ReadonlyMap<string, string> = new Map(allRules.map(({ id, why }) => [id, why]))

function toFindingLines(finding: ScanFinding): string[] {
  const { ruleId, path, line, column, severity, title, excerpt, remediation, suppressed } = finding
  return [
    `  ${toOneLine(path)}:${line}:${column}  ${severity}  ${title}`,
    `      found: ${toOneLine(excerpt)}`,
    `      why:   ${reasons.get(ruleId) ?? ''}`,
    `      fix:   ${remediation}`,
    ...(suppressed ? [`      suppressed by the author: ${toOneLine(suppressed.reason)}`] : []),
  ]
}
