import type { ScanFinding, Security } from '@skillstead/protocol'
import { allRules } from '@skillstead/scanner/rules'
import { toOneLine } from '../output.ts'
import { toVerdict } from './verdict.ts'

/** A scan for people: the verdict, then where, what, why, and how to mend it. */
export function toScanLines(id: string, report: Pick<Security, 'verdict' | 'risk' | 'score' | 'findings' | 'cut'>) {
  return [`${toOneLine(id)}: ${toVerdict(report)}`, ...toFindingsLines(report)]
}

/** What a scan found, and what it did not look at. */
export function toFindingsLines({ findings, cut }: Pick<Security, 'findings' | 'cut'>): string[] {
  return [
    ...findings.flatMap(toFindingLines),
    ...cut.map(({ path, reason }) => `  ${toOneLine(path)}: not all of it: ${toOneLine(reason)}`),
  ]
}

const reasons: ReadonlyMap<string, string> = new Map(allRules.map(({ id, why }) => [id, why]))

function toFindingLines(finding: ScanFinding): string[] {
  const { ruleId, path, line, column, severity, title, excerpt, remediation, suppressed } = finding
  return [
    `  ${toOneLine(path)}:${line}:${column}  ${severity}  ${title}`,
    `      found: ${toOneLine(excerpt)}`,
    `      why:   ${reasons.get(ruleId) ?? ''}`,
    `      mend:  ${remediation}`,
    ...(suppressed ? [`      the author says: ${toOneLine(suppressed.reason)}`] : []),
  ]
}
