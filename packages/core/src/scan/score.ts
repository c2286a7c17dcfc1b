import type { ScanFinding, ScanReport } from '@skillstead/protocol'

/** What each rule that found something takes from 100, by the worst that it found. */
const penalties: Record<ScanFinding['severity'], number> = { critical: 70, high: 30, medium: 15, low: 5, info: 0 }

/** The verdict is the first whose score is reached: one medium matter is safe, two or a high one call for caution. */
const verdicts: readonly { verdict: ScanReport['verdict']; scoreMin: number }[] = [
  { verdict: 'safe', scoreMin: 80 },
  { verdict: 'caution', scoreMin: 40 },
  { verdict: 'dangerous', scoreMin: 0 },
]

/** 100 less the penalty of each rule, and at least 0: saying a thing twice makes it no worse. */
export function toScore(findings: readonly Pick<ScanFinding, 'ruleId' | 'severity'>[]): number {
  const worst = new Map<string, number>()
  for (const { ruleId, severity } of findings) {
    worst.set(ruleId, Math.max(worst.get(ruleId) ?? 0, penalties[severity]))
  }
  return Math.max(0, 100 - [...worst.values()].reduce((sum, penalty) => sum + penalty, 0))
}

/** What a score means. */
export function toVerdict(score: number): ScanReport['verdict'] {
  return verdicts.find(({ scoreMin }) => score >= scoreMin)!.verdict
}
