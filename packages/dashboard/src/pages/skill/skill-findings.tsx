import type { ScanFinding } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/parts.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useFileText } from './files-tab.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { severityTones } from '../../ui/findings.tsx'
import { signalSentences } from './words.ts'

const gravity = ['critical', 'high', 'medium', 'low', 'info']
const contextLines = 2
const lineCharactersMax = 400
/** Maximum size of a file that is fetched to show the lines of its findings. */
const fileBytesMax = 1024 * 1024

/** The findings of one file, with their lines. */
export function FindingsOfFile(props: {
  shown: ShownSkill
  path: string
  findings: readonly ScanFinding[]
  open: boolean
}) {
  const { shown, path } = props
  const findings = props.findings.toSorted(
    (a, b) => a.line - b.line || gravity.indexOf(a.severity) - gravity.indexOf(b.severity),
  )
  const [isOpen, setOpen] = useState(props.open)
  const file = shown.skill.files.find((one) => one.path === path)
  const isRead = file !== undefined && file.size <= fileBytesMax
  const text = useFileText(shown, path, isOpen && isRead)
  const lines = text.data?.split(/\r\n|\r|\n/)
  return (
    <details class="findings" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <bdi>{path}</bdi> <span class="faint">{findings.length}</span>
      </summary>
      {text.error && <Problem error={text.error} retry={text.refetch} />}
      <ul class="plain">
        {findings.map((finding, place) => (
          <Finding
            key={place}
            shown={shown}
            finding={finding}
            lines={lines}
            isLinked={file !== undefined}
            isAgain={findings[place - 1]?.line === finding.line}
          />
        ))}
      </ul>
    </details>
  )
}

function Finding(props: {
  shown: ShownSkill
  finding: ScanFinding
  lines: readonly string[] | undefined
  isLinked: boolean
  /** Whether the previous finding shows the same line. */
  isAgain: boolean
}) {
  const { shown, finding, lines, isLinked, isAgain } = props
  const { severity, title, path, line, signal, context, decoded, suppressed, remediation, ruleId } = finding
  return (
    <li>
      <h3>
        <Badge tone={severityTones[severity]}>{severity}</Badge> {suppressed && <Badge>suppressed</Badge>} {title}
      </h3>
      <p class="facts">
        {isLinked ? (
          <a href={toTab(shown, 'files', { path, line: `${line}` })}>Line {line}</a>
        ) : (
          <span>Line {line}</span>
        )}
        <span>{signalSentences[signal]}</span>
        {context.polarity !== 'imperative' && <span>Context: {context.polarity}.</span>}
        {decoded.length > 0 && <span>Decoded from: {decoded.join(', then ')}.</span>}
        <code>{ruleId}</code>
      </p>
      {!(isAgain && lines && decoded.length === 0) && <Passage finding={finding} lines={lines} />}
      {remediation && <p>{remediation}</p>}
      {suppressed && (
        <p class="hint">
          Suppressed by the author: <bdi>{suppressed.reason}</bdi>
        </p>
      )}
    </li>
  )
}

/**
 * The excerpt with the surrounding lines; the excerpt alone if those lines are not available, or if the excerpt was
 * decoded.
 */
function Passage({ finding, lines }: { finding: ScanFinding; lines: readonly string[] | undefined }) {
  const { line, excerpt, decoded } = finding
  const first = Math.max(1, line - contextLines)
  const around = lines?.slice(first - 1, line + contextLines)
  return (
    <>
      {around && (
        <div class="passage" role="region" aria-label={`Around line ${line}`} tabIndex={0}>
          {around.map((text, place) => (
            <div key={place} class={first + place === line ? 'line here' : 'line'}>
              <span class="number">{first + place}</span>
              <span dir="auto">
                {first + place === line ? (
                  <WithExcerpt text={text} finding={finding} />
                ) : (
                  text.slice(0, lineCharactersMax)
                )}
              </span>
            </div>
          ))}
        </div>
      )}
      {(!around || decoded.length > 0) && (
        <pre class="excerpt" tabIndex={0} aria-label="Matched text">
          <bdi>{excerpt}</bdi>
        </pre>
      )}
    </>
  )
}

/** The line with the excerpt marked; long lines are shortened. */
function WithExcerpt({ text, finding: { excerpt, column } }: { text: string; finding: ScanFinding }) {
  const [firstLine = ''] = excerpt.replace(/^…|…$/g, '').split('\n')
  const asked = text.indexOf(firstLine, Math.max(0, column - 1))
  const at = asked === -1 ? text.indexOf(firstLine) : asked
  if (firstLine.trim() === '' || at === -1) {
    const start = Math.max(0, column - 1 - lineCharactersMax / 2)
    return <mark>{text.slice(start, start + lineCharactersMax)}</mark>
  }
  const start = Math.max(0, at - lineCharactersMax / 2)
  const end = at + firstLine.length
  return (
    <>
      {start > 0 && '…'}
      {text.slice(start, at)}
      <mark>{firstLine}</mark>
      {text.slice(end, end + lineCharactersMax / 2)}
      {text.length > end + lineCharactersMax / 2 && '…'}
    </>
  )
}
