import { toScore, toVerdict } from '@skillstead/scanner'
import type { Judged } from './scan-samples.ts'

/**
 * Judges each sample only by rules that a malicious sample of another source supports, so the result estimates what
 * they find in sources that no one has seen yet.
 */
export function withoutOwnSource(judged: readonly Judged[]): Judged[] {
  const sourcesOf = new Map<string, Set<string>>()
  for (const { sample, findings } of judged) {
    if (sample.label !== 'malicious') continue
    for (const { ruleId, signal } of findings) {
      if (signal === 'none') continue
      const sources = sourcesOf.get(ruleId) ?? new Set()
      sourcesOf.set(ruleId, sources.add(sample.source))
    }
  }
  return judged.map(({ sample, ...report }) => {
    const findings = report.findings.filter(({ ruleId }) => {
      const sources = sourcesOf.get(ruleId)
      return !sources || sources.size > 1 || !sources.has(sample.source)
    })
    return { sample, findings, verdict: toVerdict(findings), score: toScore(findings) }
  })
}
