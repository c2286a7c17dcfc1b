import { type Change, verdictWords } from '@skillstead/protocol'
import { severityTones, verdictTones } from './findings.tsx'
import { Badge } from './parts.tsx'

/** The verdict on what a version changes, with what it adds and removes. */
export function ChangeReport({ change }: { change: Change }) {
  return (
    <>
      <p class="facts">
        <Badge tone={verdictTones[change.verdict]}>{verdictWords[change.verdict]}</Badge>
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
}
