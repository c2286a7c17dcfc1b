import type { api } from '../api.ts'
import { Badge, toCount } from './parts.tsx'
import { severityTones, verdictTones } from './tones.ts'

type Report = NonNullable<Awaited<ReturnType<typeof api.getSkill>>['security']>
type Finding = Report['findings'][number]

const severities = Object.keys(severityTones)

/** The result of a scan in one line. */
export function Verdict({ of }: { of: Pick<Report, 'score' | 'verdict' | 'risk' | 'findings'> }) {
  const found = of.findings.length
  return (
    <p class="facts">
      <Badge tone={verdictTones[of.verdict]}>{of.verdict}</Badge>
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
