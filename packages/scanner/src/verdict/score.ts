import { type ScanFinding, type Security, scoreRanges, toScoreVerdict, verdictWords } from '@skillstead/protocol'

type Judged = Pick<
  ScanFinding,
  'ruleId' | 'category' | 'severity' | 'signal' | 'path' | 'line' | 'column' | 'excerpt' | 'context' | 'suppressed'
>

/** Points that each rule subtracts once from the score, by its most severe finding. */
const penalties: Record<ScanFinding['severity'], number> = { critical: 24, high: 12, medium: 6, low: 2, info: 0 }
/** Factor for findings of `power`, which are no fault, and for findings that the author explained. */
const mildShare = 0.25

/**
 * One hostile finding, or independent suspicious findings (of two categories in two sentences, or of three categories),
 * are `dangerous`; one suspicious finding is `caution`, unless its author gave a reason for it.
 */
export function toVerdict(findings: readonly Judged[]): Security['verdict'] {
  if (findings.some(({ signal }) => signal === 'hostile')) return 'dangerous'
  const suspicious = findings.filter(({ signal }) => signal === 'suspicious')
  // Incomplete scans and possible examples are no independent evidence of intent.
  const independent = suspicious.filter(
    ({ category, context }) => category !== 'incomplete-scan' && context.polarity === 'imperative',
  )
  if (hasIndependentPair(independent)) return 'dangerous'
  return suspicious.some(({ suppressed }) => !suppressed) ? 'caution' : 'safe'
}

/**
 * Whether two findings differ in category and sentence, or three in category, because two rules may find the same fact.
 * The address of a command is no fact of its own. Takes linear time per line.
 */
function hasIndependentPair(findings: readonly Judged[]): boolean {
  const categories = new Set(findings.map(({ category }) => category))
  if (categories.size < 2) return false
  if (new Set([...categories, 'suspicious-host']).size > 3) return true
  const [first, ...others] = Map.groupBy(findings, ({ path, line }) => `${path}\n${line}`).values()
  return others.length > 0 || hasTwoSentences(first!)
}

/** Whether the findings of one line are in several sentences, because many authors write a paragraph in one line. */
function hasTwoSentences(findings: readonly Judged[]): boolean {
  const inOrder = findings.toSorted((a, b) => a.column - b.column)
  return inOrder.some(({ column, excerpt }, index) => {
    const next = inOrder[index + 1]
    return next !== undefined && sentenceEndPattern.test(excerpt.slice(0, next.column - column))
  })
}

const sentenceEndPattern = /[.!?](?=\s)|[\u3002\uff01\uff1f]/

/**
 * Computes the score from 0 to 100: the verdict's maximum, minus the penalty of each rule for its most severe finding,
 * but at least the verdict's minimum. Repeating a passage does not lower the score.
 */
export function toScore(findings: readonly Judged[]): number {
  const verdict = toVerdict(findings)
  const { most, least } = scoreRanges[verdict]
  const worst = new Map<string, number>()
  for (const finding of findings) {
    worst.set(finding.ruleId, Math.max(worst.get(finding.ruleId) ?? 0, toPenalty(finding, verdict)))
  }
  return Math.max(least, most - Math.round([...worst.values()].reduce((sum, penalty) => sum + penalty, 0)))
}

function toPenalty({ signal, severity, suppressed }: Judged, verdict: Security['verdict']): number {
  if (signal === 'none') return 0
  const isMild = signal === 'power' || (suppressed !== null && verdict !== 'dangerous')
  return penalties[severity] * (isMild ? mildShare : 1)
}

const risksOfPower = { critical: 'high', high: 'high', medium: 'medium', low: 'low', info: 'none' } as const
const riskOrder = ['none', 'low', 'medium', 'high'] as const

/** The lowest score of the verdict `safe`. */
export const safeScoreMin = scoreRanges.safe.least

/** Whether a score belongs to the verdict `dangerous`. */
export function isDangerousScore(score: number | null): boolean {
  return score !== null && toScoreVerdict(score) === 'dangerous'
}

const verdictOrder = ['safe', 'caution', 'dangerous'] as const

/** The worse of two verdicts. */
export function worstVerdict(one: Security['verdict'], other: Security['verdict']): Security['verdict'] {
  return verdictOrder.findLast((verdict) => verdict === one || verdict === other)!
}

/** The higher of two risks. */
export function worstRisk(one: Security['risk'], other: Security['risk']): Security['risk'] {
  return riskOrder.findLast((risk) => risk === one || risk === other)!
}

/** The risk of a skill: the highest risk of its findings, by their severity. */
export function toRisk(findings: readonly Judged[]): Security['risk'] {
  const risks = new Set(findings.map(({ signal, severity }) => (signal === 'none' ? 'none' : risksOfPower[severity])))
  return riskOrder.findLast((risk) => risks.has(risk)) ?? 'none'
}

/** The verdict, score and risk of a scan as a text. */
export function toVerdictText({ verdict, risk, score }: Pick<Security, 'verdict' | 'risk' | 'score'>): string {
  return `${verdictWords[verdict]}, ${score} of 100, risk ${risk}`
}
