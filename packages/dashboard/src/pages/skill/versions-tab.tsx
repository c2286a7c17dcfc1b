import { type SkillVersion, verdictWords, type SkillDiff } from '@skillstead/protocol'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Select } from '../../ui/form.tsx'
import { Badge, Empty, SecurityBadge, Time, toBytesText, UserText, toCount, By, verdictTones } from '../../ui/parts.tsx'
import { EvaluationBadge, EvaluationPanel } from '../../ui/evaluations.tsx'
import { ChangeReport } from '../../ui/findings.tsx'
import { Uses, AccessList, isEmptyAccess } from './access-list.tsx'
import { toTab, type ShownSkill, useDownloads } from './shown-skill.ts'
import { ItemList, usePaged, Shown } from '../../ui/page.tsx'
import { FilePatches } from '../../ui/file-patches.tsx'

/** All versions, and the comparison of two of them. */
export function VersionsTab({ shown }: { shown: ShownSkill }) {
  const { name, skill } = shown
  const { from, to } = useAddress().fields
  const found = usePaged(['skill', name, 'versions'], (page) => api.listVersions({ name, page }))
  const downloads = useDownloads(name, 'version')
  if (skill.versions.length === 0) return <Empty>Nothing is published here yet.</Empty>
  return (
    <>
      {skill.versions.length > 1 && <Choice shown={shown} />}
      {from && to && <Comparison key={`${from} ${to}`} name={name} from={from} to={to} />}
      {skill.evaluations && <EvaluationPanel name={name} version={shown.version} evaluations={skill.evaluations} />}
      <h2>All versions</h2>
      <ItemList class="timeline" of={found} items="versions">
        {(version) => (
          <Version
            key={version.version}
            shown={shown}
            version={version}
            before={found.data?.versions[found.data.versions.indexOf(version) + 1]}
            downloads={downloads.data?.groups?.find((group) => group.name === version.version)?.downloads}
          />
        )}
      </ItemList>
    </>
  )
}

const choicesMax = 200

function Choice({ shown: { skill, version } }: { shown: ShownSkill }) {
  const { fields, change } = useAddress()
  const options = skill.versions.slice(0, choicesMax).map((one) => one.version)
  const place = skill.versions.findIndex((one) => one.version === version)
  const from = fields.from ?? skill.versions[place + 1]?.version ?? skill.versions[1]!.version
  const to = fields.to ?? (place >= 0 && place + 1 < skill.versions.length ? version : skill.versions[0]!.version)
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Select label="From" name="from" value={from} options={options} onChange={(one) => change({ from: one, to })} />
      <Select label="To" name="to" value={to} options={options} onChange={(one) => change({ from, to: one })} />
      <button type="button" onClick={() => change({ from, to })}>
        Show the differences
      </button>
      {fields.from && (
        <button type="button" class="quiet" onClick={() => change({ from: undefined, to: undefined })}>
          Close
        </button>
      )}
    </form>
  )
}

/** A version in the history, with what it changes in comparison to the version before, if that is known. */
function Version(props: {
  shown: ShownSkill
  version: SkillVersion
  /** The next lower version, if it is on the same page. */
  before: SkillVersion | undefined
  downloads: number | undefined
}) {
  const { shown, version, before, downloads } = props
  const { name, skill } = shown
  const { versions } = skill
  const sinceVersion = versions[versions.findIndex((one) => one.version === version.version) + 1]?.version
  const { change, widens, security } = version
  const isNewVerdict = before?.security && security && before.security.verdict !== security.verdict
  return (
    <li class={widens || isNewVerdict || (change && change.verdict !== 'safe') ? 'significant' : undefined}>
      <h3>
        <a href={toAddress(addresses.skill(name), { version: version.version })}>{version.version}</a>
      </h3>
      <p class="facts">
        {version.version === skill.latestVersion && <Badge tone="good">latest</Badge>}
        {version.recalled && <Badge tone="bad">recalled</Badge>}
        {version.yanked && <Badge tone="bad">yanked</Badge>}
        <SecurityBadge score={security?.score ?? null} />
        {change && change.verdict !== 'safe' && (
          <Badge tone={verdictTones[change.verdict]}>change: {change.verdict}</Badge>
        )}
        <EvaluationBadge evaluations={version.evaluations} />
        <span>
          {version.publishedAt.slice(0, 10)}, <Time at={version.publishedAt} />
        </span>
        <By name={version.publisher.username} />
        <span>
          {toBytesText(version.size)}
          {before && toGrowth(version.size - before.size)} in {toCount(version.files.length, 'file')}
        </span>
        {downloads !== undefined && <span>{toCount(downloads, 'download')} in 30 days</span>}
        {!version.portable && (
          <span title="The strict rules of the SKILL.md format do not hold; some agents may not read it">
            not portable
          </span>
        )}
        {sinceVersion && (
          <a href={toTab(shown, 'versions', { from: sinceVersion, to: version.version })}>
            Changes since {sinceVersion}
          </a>
        )}
      </p>
      {isNewVerdict && (
        <p class={verdictTones[security.verdict]}>
          Verdict: {verdictWords[security.verdict]}; {before.version} had {verdictWords[before.security!.verdict]}.
        </p>
      )}
      {version.changelog ? <Changelog text={version.changelog} /> : <p class="faint">No changelog.</p>}
      {widens && (
        <div class={widens.patch ? 'fair' : ''}>
          It uses more than {widens.since}
          {widens.patch && ', although it is a patch version'}.{' '}
          <a href={toTab(shown, 'versions', { from: widens.since, to: version.version })}>See what</a>
          <Uses access={widens.added} />
        </div>
      )}
    </li>
  )
}

const toGrowth = (bytes: number): string =>
  bytes === 0 ? '' : ` (${bytes > 0 ? '+' : '−'}${toBytesText(Math.abs(bytes))})`

const shortCharactersMax = 600

function Changelog({ text }: { text: string }) {
  const content = <UserText class="said-text">{text}</UserText>
  if (text.length <= shortCharactersMax) return content
  return (
    <details>
      <summary>Changelog, {text.length.toLocaleString('en')} characters</summary>
      {content}
    </details>
  )
}

/** The comparison of two versions: newly used tools and hosts, then file by file. */
export function Comparison({ name, from, to }: { name: string; from: string; to: string }) {
  const found = useData(['skill', name, 'diff', from, to], () => api.diffSkill({ name, from, to, allowRecalled: true }))
  return (
    <section class="comparison" aria-label={`From ${from} to ${to}`}>
      <h2>
        From {from} to {to}
      </h2>
      <Shown of={found}>{(diff) => (from === to ? <p>These are the same version.</p> : <Parts diff={diff} />)}</Shown>
    </section>
  )
}

function Parts({ diff }: { diff: SkillDiff }) {
  const { files, access, security, change, from, to } = diff
  return (
    <>
      {!isEmptyAccess(access.added) && (
        <div class="card widens">
          <h3>New in {to}</h3>
          <AccessList access={access.added} />
        </div>
      )}
      {!isEmptyAccess(access.removed) && (
        <details class="card">
          <summary>No longer used in {to}</summary>
          <AccessList access={access.removed} />
        </details>
      )}
      <p>
        Security: {toVerdictWords(security.from)} in {from}, {toVerdictWords(security.to)} in {to}.{' '}
        {files.length === 0 ? 'No file differs.' : `${toCount(files.length, 'file')} changed.`}
      </p>
      {change && <ChangeReport change={change} />}
      <FilePatches files={files} />
    </>
  )
}

const toVerdictWords = (verdict: SkillDiff['security']['from']): string =>
  verdict ? `${verdictWords[verdict.verdict]} (${verdict.score})` : 'not scanned'
