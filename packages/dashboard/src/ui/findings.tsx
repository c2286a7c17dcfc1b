import type { api } from '../api.ts'
import { Badge, toCount, type Tone } from './parts.tsx'
import { type ScanFinding, type Security, verdictWords } from '@skillstead/protocol'

type Report = NonNullable<Awaited<ReturnType<typeof api.getSkill>>['security']>
type Finding = Report['findings'][number]

/** The result of a scan in one line. */
export function Verdict({ of }: { of: Pick<Report, 'score' | 'verdict' | 'risk' | 'findings'> }) {
  const found = of.findings.length
  return (
    <p class="facts">
      <Badge tone={verdictTones[of.verdict]}>{verdictWords[of.verdict]}</Badge>
      <span>score {of.score} of 100</span>
      <span>risk {of.risk}</span>
      <span>{toCount(found, 'finding')}</span>
    </p>
  )
}

/** Findings with their places and fixes, most severe first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return <p>No findings.</p>
  const sorted = findings.toSorted(
    (one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity),
  )
  return (
    <ul class="plain findings">
      {sorted.map((finding) => (
        <li key={`${finding.ruleId} ${finding.path} ${finding.line} ${finding.column}`}>
          <p class="facts">
            <Badge tone={severityTones[finding.severity]}>{finding.severity}</Badge>
            <strong>{finding.title}</strong>
            <span>
              <bdi>{finding.path}</bdi>, line {finding.line}
            </span>
            <code>{finding.ruleId}</code>
          </p>
          <pre tabIndex={0} aria-label={`Text of ${finding.path} at line ${finding.line}`}>
            <code>{finding.excerpt}</code>
          </pre>
          {finding.decoded.length > 0 && <p class="faint">Decoded from: {finding.decoded.join(', ')}.</p>}
          <p>{finding.remediation}</p>
          {finding.suppressed && <p class="faint">Suppressed by the author: {finding.suppressed.reason}</p>}
        </li>
      ))}
    </ul>
  )
}

export const verdictTones: Readonly<Record<Security['verdict'], Tone>> = {
  safe: 'good',
  caution: 'fair',
  dangerous: 'bad',
}

/** Most severe first. */
export const severityTones: Readonly<Record<ScanFinding['severity'], Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'fair',
  low: 'plain',
  info: 'plain',
}

const severities = Object.keys(severityTones)
