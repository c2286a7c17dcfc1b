import { type Security, type ScanFinding, toMarkedText } from '@skillstead/protocol'
import { useMemo, useState } from 'preact/hooks'
import { Badge, Empty, Time } from '../../ui/parts.tsx'
import {
  FindingPlace,
  findDecisive,
  VerdictBadge,
  ChangeReport,
  isBinaryPath,
  severityTones,
  sortFindings,
} from '../../ui/findings.tsx'
import { AccessList, isEmptyAccess } from './access-list.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { useAddress } from '../../addresses.ts'
import { Pager, toPageNumber } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useFileText } from './files-tab.tsx'

/** The scan findings with their locations, and the resources that the skill uses. */
export function SecurityTab({ shown }: { shown: ShownSkill }) {
  const { security } = shown.skill
  return (
    <>
      {security ? (
        <Report shown={shown} security={security} />
      ) : (
        <Empty>
          {shown.version
            ? 'This version has not been scanned yet. The node scans it automatically; check again in a minute.'
            : 'There is no version to scan.'}
        </Empty>
      )}
      {shown.skill.opinion && <SecondOpinion opinion={shown.skill.opinion} />}
      {shown.skill.change && (
        <>
          <h2>What it changes</h2>
          <ChangeReport change={shown.skill.change} />
        </>
      )}
      <Uses shown={shown} />
    </>
  )
}

function Report({ shown, security }: { shown: ShownSkill; security: Security }) {
  const { verdict, score, risk, findings, cut } = security
  return (
    <>
      <div class="card verdict">
        <p>
          <VerdictBadge of={verdict} /> <strong>{score} of 100.</strong> {verdictSentences[verdict]}
        </p>
        <Decisive shown={shown} security={security} />
        <p>
          Risk: {risk}. {riskSentences[risk]}
        </p>
        <p class="hint">
          Scanned <Time at={security.scannedAt} /> with the rules <bdi>{security.rulesVersion}</bdi>. When this node
          gets new rules it scans every version again; until then this is the result of the old rules. No scan proves
          that a skill is harmless.
        </p>
      </div>
      <h2>
        Findings <span class="faint">{findings.length.toLocaleString('en')}</span>
      </h2>
      {findings.length === 0 ? <p>No findings.</p> : <SkillFindings shown={shown} findings={findings} />}
      {cut.length > 0 && (
        <div class="notice fair">
          <strong>The scan or the list is incomplete.</strong>
          <ul>
            {cut.slice(0, 50).map(({ path, reason }) => (
              <li key={`${path} ${reason}`}>
                <bdi>{path}</bdi>: <bdi>{reason}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

/** The finding that makes the verdict, quoted with its place and what to do. */
function Decisive({ shown, security }: { shown: ShownSkill; security: Security }) {
  const finding = useMemo(() => findDecisive(security), [security])
  if (!finding) return null
  return (
    <figure class="decisive" aria-label="The decisive finding">
      <figcaption>
        <strong>{finding.title}</strong> <FindingPlace of={finding} />
      </figcaption>
      {finding.excerpt !== '' && (
        <pre class="excerpt" tabIndex={0} aria-label="Matched text">
          <bdi>{finding.excerpt}</bdi>
        </pre>
      )}
      <p>
        {finding.remediation} <PlaceLink shown={shown} finding={finding} />
      </p>
    </figure>
  )
}

const SecondOpinion = ({ opinion }: { opinion: NonNullable<ShownSkill['skill']['opinion']> }) => (
  <>
    <h2>Second opinion</h2>
    <p class="facts">
      <VerdictBadge of={opinion.verdict} />
      <span>
        by <bdi>{opinion.source}</bdi>, a service of this node's operator
      </span>
      <Time at={opinion.at} />
    </p>
    <ul>
      {opinion.reasons.map((reason) => (
        <li key={reason}>
          <bdi>{reason}</bdi>
        </li>
      ))}
    </ul>
  </>
)

function Uses({ shown }: { shown: ShownSkill }) {
  const { access, widens } = shown.skill
  return (
    <>
      <h2>What it uses</h2>
      {widens && (
        <div class={`notice ${widens.patch ? 'fair' : 'plain'}`}>
          <strong>New since {widens.since}</strong>
          {widens.patch && ', although it is a patch version'}:
          <AccessList access={widens.added} />
          <a href={toTab(shown, 'versions', { from: widens.since, to: shown.version })}>See the differences</a>
        </div>
      )}
      {!access && <p class="faint">Unknown.</p>}
      {access && isEmptyAccess(access) && <p>Its text names no tools, programs, hosts, packages or files.</p>}
      {access && <AccessList access={access} />}
      <p class="hint">Found in its text. The skill may use more or less than its text names.</p>
    </>
  )
}

const pageFindings = 25
/** Number of findings of a page that are shown open. */
const openFindings = 5
const contextLines = 2
const lineCharactersMax = 400
/** Maximum size of a file that is fetched to show the lines of its findings. */
const fileBytesMax = 1024 * 1024

/** The findings of a version, worst first, in pages. */
function SkillFindings({ shown, findings }: { shown: ShownSkill; findings: readonly ScanFinding[] }) {
  const { fields } = useAddress()
  const sorted = useMemo(() => sortFindings(findings), [findings])
  const totalPages = Math.ceil(sorted.length / pageFindings)
  const page = Math.min(toPageNumber(fields.page), totalPages)
  const first = (page - 1) * pageFindings
  return (
    <>
      <ul class="plain">
        {sorted.slice(first, first + pageFindings).map((finding, place) => (
          <Finding
            key={`${shown.version} ${first + place}`}
            shown={shown}
            finding={finding}
            open={place < openFindings}
          />
        ))}
      </ul>
      <Pager page={page} totalPages={totalPages} />
    </>
  )
}

function Finding({ shown, finding, open }: { shown: ShownSkill; finding: ScanFinding; open: boolean }) {
  const { severity, title, path, signal, context, decoded, suppressed, remediation, ruleId } = finding
  const [isOpen, setOpen] = useState(open)
  const file = shown.skill.files.find((one) => one.path === path)
  const hasText = file !== undefined && file.size <= fileBytesMax && !isBinaryPath(path)
  const text = useFileText(shown, path, isOpen && hasText)
  const lines = text.data?.split(/\r\n|\r|\n/)
  return (
    <li>
      <details class="findings" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Badge tone={severityTones[severity]}>{severity}</Badge> {suppressed && <Badge>suppressed</Badge>} {title}{' '}
          <FindingPlace of={finding} />
        </summary>
        <p class="facts">
          <PlaceLink shown={shown} finding={finding} hasLines={text.data !== null} />
          <span>{signalSentences[signal]}</span>
          {context.polarity !== 'imperative' && <span>Context: {context.polarity}.</span>}
          {decoded.length > 0 && <span>Decoded from: {decoded.join(', then ')}.</span>}
          <code>{ruleId}</code>
        </p>
        {text.error && <Problem error={text.error} retry={text.refetch} />}
        {isOpen && <Passage finding={finding} lines={lines} />}
        {remediation && <p>{remediation}</p>}
        {suppressed && (
          <p class="hint">
            Suppressed by the author: <bdi>{suppressed.reason}</bdi>
          </p>
        )}
      </details>
    </li>
  )
}

/** A link to the line of a finding; to the whole file, if it has no lines or is an archive with the finding's file. */
function PlaceLink(props: { shown: ShownSkill; finding: ScanFinding; hasLines?: boolean }) {
  const { shown, finding, hasLines = true } = props
  const { path, line } = finding
  const [outer = ''] = path.split('!/', 1)
  const isFile = shown.skill.files.some((one) => one.path === outer)
  if (!isFile) return <span>Line {line}</span>
  if (outer !== path) return <a href={toTab(shown, 'files', { path: outer })}>Packed into this file</a>
  if (!hasLines || isBinaryPath(path))
    return <a href={toTab(shown, 'files', { path })}>The whole file: it has no lines</a>
  return <a href={toTab(shown, 'files', { path, line: `${line}` })}>Line {line}</a>
}

/**
 * The line of a finding with the lines around it. The excerpt follows if it was decoded, and stands alone if the lines
 * are not available.
 */
function Passage({ finding, lines }: { finding: ScanFinding; lines: readonly string[] | undefined }) {
  const { line, excerpt, decoded } = finding
  const first = Math.max(1, line - contextLines)
  const around = lines?.slice(first - 1, line + contextLines)
  return (
    <>
      {around && (
        <div class="passage" role="group" aria-label={`Around line ${line}`} tabIndex={0}>
          {around.map((text, place) => (
            <div key={place} class={first + place === line ? 'line here' : 'line'}>
              <span class="number">{first + place}</span>
              <span dir="auto">
                {first + place === line ? (
                  <WithExcerpt text={text} finding={finding} />
                ) : (
                  toMarkedText(text.slice(0, lineCharactersMax))
                )}
              </span>
            </div>
          ))}
        </div>
      )}
      {(!around || decoded.length > 0) && excerpt !== '' && (
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
  const line = toComparable(text)
  const wanted = toComparable(firstLine)
  const asked = line.indexOf(wanted, Math.max(0, column - 1))
  const at = asked === -1 ? line.indexOf(wanted) : asked
  if (firstLine.trim() === '' || at === -1) {
    const start = Math.max(0, column - 1 - lineCharactersMax / 2)
    return <mark>{toMarkedText(text.slice(start, start + lineCharactersMax))}</mark>
  }
  const start = Math.max(0, at - lineCharactersMax / 2)
  const end = at + firstLine.length
  return (
    <>
      {start > 0 && '…'}
      {toMarkedText(text.slice(start, at))}
      <mark>{toMarkedText(text.slice(at, end))}</mark>
      {toMarkedText(text.slice(end, end + lineCharactersMax / 2))}
      {text.length > end + lineCharactersMax / 2 && '…'}
    </>
  )
}

/** The text as in an excerpt, which has U+FFFD for each control and invisible character. */
const toComparable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ({ length }) => '\uFFFD'.repeat(length))

const verdictSentences: Readonly<Record<Security['verdict'], string>> = {
  safe: 'The scan found no reason against it, which is no proof that it is harmless.',
  caution: 'Read the findings before you install it.',
  dangerous: 'Do not install it.',
}

const riskSentences: Readonly<Record<Security['risk'], string>> = {
  none: 'It requests no access to your machine.',
  low: 'It requests little access to your machine.',
  medium: 'It requests some access to your machine and its data.',
  high: 'It requests much access to your machine and its data, whatever the purpose.',
}

const signalSentences: Readonly<Record<ScanFinding['signal'], string>> = {
  hostile: 'This has no harmless purpose.',
  suspicious: 'Review this.',
  power: 'This is fine if you want it; it shows what the skill can do.',
  none: 'This was checked and is not an instruction.',
}
