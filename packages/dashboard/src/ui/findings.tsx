import { Badge, toCount, type Tone, verdictTones } from './parts.tsx'
import { type ScanFinding, type Security, signals, severities, verdictWords, type Change } from '@skillstead/protocol'

/** The result of a scan in one line. */
export const Verdict = ({ of }: { of: Pick<Security, 'score' | 'verdict' | 'risk' | 'findings'> }) => (
  <p class="facts">
    <VerdictBadge of={of.verdict} />
    <span>score {of.score} of 100</span>
    <span>risk {of.risk}</span>
    <span>{toCount(of.findings.length, 'finding')}</span>
  </p>
)

/** Findings with their places and fixes, worst first. */
export function Findings({ findings }: { findings: readonly ScanFinding[] }) {
  if (findings.length === 0) return <p>No findings.</p>
  return (
    <ul class="plain findings">
      {sortFindings(findings).map((finding) => (
        <li key={`${finding.ruleId} ${finding.path} ${finding.line} ${finding.column}`}>
          <p class="facts">
            <Badge tone={severityTones[finding.severity]}>{finding.severity}</Badge>
            <strong>{finding.title}</strong>
            <FindingPlace of={finding} />
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

export { verdictTones } from './parts.tsx'

/** A verdict in words and as a colour. */
export const VerdictBadge = ({ of }: { of: Security['verdict'] }) => (
  <Badge tone={verdictTones[of]}>{verdictWords[of]}</Badge>
)

export const severityTones: Readonly<Record<ScanFinding['severity'], Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'fair',
  low: 'plain',
  info: 'plain',
}

/** Findings worst first: by signal, then those that the author did not suppress, then by severity and place. */
export const sortFindings = (findings: readonly ScanFinding[]): ScanFinding[] =>
  findings.toSorted(
    (a, b) =>
      signals.indexOf(a.signal) - signals.indexOf(b.signal) ||
      Number(a.suppressed !== null) - Number(b.suppressed !== null) ||
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1),
  )

/** The finding that decides the verdict, or the worst of those that decide it together. Undefined for `safe`. */
export function findDecisive({ verdict, findings }: Pick<Security, 'verdict' | 'findings'>): ScanFinding | undefined {
  if (verdict === 'safe') return undefined
  return sortFindings(findings).find(
    ({ signal, suppressed, category }) =>
      signal === 'hostile' ||
      (signal === 'suspicious' && (verdict === 'caution' ? !suppressed : category !== 'incomplete-scan')),
  )
}

/** Whether a file is binary, and so has no lines, by its extension. */
export const isBinaryPath = (path: string): boolean =>
  /\.(?:png|jpe?g|gif|webp|avif|ico|pdf|zip|t?gz|tar|bz2|xz|7z|rar|jar|woff2?|[ot]tf|exe|dll|so|dylib|bin|wasm|pyc|class|docx|xlsx|pptx|mp[34]|wav|ogg|webm)$/i.test(
    path,
  )

/** The place of a finding: its file and line, or the whole file where it has no lines. */
export const FindingPlace = ({ of: { path, line } }: { of: Pick<ScanFinding, 'path' | 'line'> }) => (
  <span class="finding-place">
    <bdi>{path}</bdi>
    {isBinaryPath(path) ? ', the whole file' : `, line ${line}`}
  </span>
)

/** The verdict on what a version changes, with what it adds and removes. */
export const ChangeReport = ({ change }: { change: Change }) => (
  <>
    <p class="facts">
      <VerdictBadge of={change.verdict} />
      <span>
        compared with {change.since}
        {change.patch && ', as a patch version'}
      </span>
    </p>
    {change.findings.length === 0 && <p>Nothing in it changes what the skill can do, as far as its text shows.</p>}
    <ul class="plain findings">
      {change.findings.map(({ ruleId, signal, severity, title, items, path, line, remediation }) => (
        <li key={`${ruleId} ${signal}`}>
          <p class="facts">
            <Badge tone={signal === 'power' ? 'plain' : severityTones[severity]}>{severity}</Badge>
            <strong>{title}</strong>
            {path !== null && (
              <span>
                <bdi>{path}</bdi>, line {line}
              </span>
            )}
            <code>{ruleId}</code>
          </p>
          <ul>
            {items.map((item) => (
              <li key={item}>
                <bdi>{item}</bdi>
              </li>
            ))}
          </ul>
          <p>{remediation}</p>
        </li>
      ))}
    </ul>
  </>
)
