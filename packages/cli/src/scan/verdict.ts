import type { ScanFinding, Security } from '@skillstead/protocol'
import { toOneLine } from '../output.ts'
import { styled, type Line } from '../style.ts'

/** What a scan came to, in a few words. */
export function toVerdict({ verdict, risk, score }: Pick<Security, 'verdict' | 'risk' | 'score'>): string {
  return `${verdict}, ${score} of 100, risk ${risk}`
}

/** The verdict that a score stands for, by the ranges of docs/scanner.md; what was not scanned has no other. */
export function toScoreVerdict(score: number | null): Security['verdict'] {
  if (score === null || score >= 80) return 'safe'
  return score >= 40 ? 'caution' : 'dangerous'
}

const severityStyles = { critical: 'bad', high: 'bad', medium: 'warning', low: 'faint', info: 'faint' } as const

type Shown = Pick<ScanFinding, 'path' | 'line' | 'column' | 'severity' | 'title' | 'excerpt'>

/** A finding in two lines: where and what, and the text that was found. */
export function toShortFindingLines({ path, line, column, severity, title, excerpt }: Shown): Line[] {
  return [
    styled(severityStyles[severity], `  ${toOneLine(path)}:${line}:${column}  ${severity}  ${title}`),
    `      ${toOneLine(excerpt)}`,
  ]
}
