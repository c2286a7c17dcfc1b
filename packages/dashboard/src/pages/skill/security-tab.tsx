import { type Security, verdictWords } from '@skillstead/protocol'
import { useMemo } from 'preact/hooks'
import { Badge, Empty, Time } from '../../ui/parts.tsx'
import { FindingPlace, findDecisive, verdictTones, ChangeReport } from '../../ui/findings.tsx'
import { AccessList, isEmptyAccess } from './access-list.tsx'
import { PlaceLink, SkillFindings } from './skill-findings.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { riskSentences, verdictSentences } from './words.ts'

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
          <Badge tone={verdictTones[verdict]}>{verdictWords[verdict]}</Badge> <strong>{score} of 100.</strong>{' '}
          {verdictSentences[verdict]}
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

function SecondOpinion({ opinion }: { opinion: NonNullable<ShownSkill['skill']['opinion']> }) {
  return (
    <>
      <h2>Second opinion</h2>
      <p class="facts">
        <Badge tone={verdictTones[opinion.verdict]}>{verdictWords[opinion.verdict]}</Badge>
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
}

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
