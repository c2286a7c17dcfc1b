import { toOneLine, type ScanFinding, type Security } from '@skillstead/protocol'
import type { AddedRules } from '../rules/added-rules.ts'
import { listRules } from '../rules/prepared-rules.ts'
import { toVerdictText } from '../verdict/score.ts'

/** A line of output with its meaning, which a terminal shows as a colour. */
export type Line = string | { readonly text: string; readonly style: 'good' | 'warning' | 'bad' | 'faint' }

const verdictStyles = { safe: 'good', caution: 'warning', dangerous: 'bad' } as const

/** A scan as lines of text: the verdict, then for each finding the place, the text, the reason and the fix. */
export function toScanLines(
  id: string,
  report: Pick<Security, 'verdict' | 'risk' | 'score' | 'findings' | 'cut'>,
  added?: AddedRules,
): Line[] {
  const { verdict } = report
  return [
    { text: `${toOneLine(id)}: ${toVerdictText(report)}`, style: verdictStyles[verdict] },
    ...toFindingsLines(report, added),
  ]
}

/** The findings of a scan, and the content that was not scanned. */
export function toFindingsLines({ findings, cut }: Pick<Security, 'findings' | 'cut'>, added?: AddedRules): string[] {
  const reasons = new Map(listRules(added).map(({ id, why }) => [id, why]))
  return [
    ...findings.flatMap((finding) => toFindingLines(finding, reasons.get(finding.ruleId))),
    ...cut.map(({ path, reason }) => `  ${toOneLine(path)}: partly scanned: ${toOneLine(reason)}`),
  ]
}

function toFindingLines(finding: ScanFinding, reason: string | undefined): string[] {
  const { path, line, column, severity, title, excerpt, remediation, suppressed } = finding
  return [
    `  ${toOneLine(path)}:${line}:${column}  ${severity}  ${title}`,
    `      found: ${toOneLine(excerpt)}`,
    ...(reason === undefined ? [] : [`      why:   ${reason}`]),
    `      fix:   ${remediation}`,
    ...(suppressed ? [`      suppressed by the author: ${toOneLine(suppressed.reason)}`] : []),
  ]
}
