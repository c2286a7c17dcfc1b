import { toOneLine, type ScanFinding, type Security } from '@skillstead/protocol'
import { styled, type Line } from '../terminal/style.ts'

/** The verdict for a score, by the ranges of docs/scanner.md, for sources that only have a score; `safe` for null. */
export function toScoreVerdict(score: number | null): Security['verdict'] {
  if (score === null || score >= 80) return 'safe'
  return score >= 40 ? 'caution' : 'dangerous'
}

const severityStyles = { critical: 'bad', high: 'bad', medium: 'warning', low: 'faint', info: 'faint' } as const

type Shown = Pick<ScanFinding, 'path' | 'line' | 'column' | 'severity' | 'title' | 'excerpt'>

/** A finding in two lines: its place and title, then the matched text. */
export function toShortFindingLines({ path, line, column, severity, title, excerpt }: Shown): Line[] {
  return [
    styled(severityStyles[severity], `  ${toOneLine(path)}:${line}:${column}  ${severity}  ${title}`),
    `      ${toOneLine(excerpt)}`,
  ]
}
