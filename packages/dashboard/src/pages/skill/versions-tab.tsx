import type { SkillVersion } from '@skillstead/protocol'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { Select } from '../../ui/form.tsx'
import { Badge, Empty, SecurityBadge, Time, toBytesText, NameLink, UserText, toCount } from '../../ui/parts.tsx'
import { verdictTones } from '../../ui/findings.tsx'
import { Comparison } from './comparison.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'
import { ItemList, usePaged } from '../../ui/page.tsx'

/** All versions, and the comparison of two of them. */
export function VersionsTab({ shown }: { shown: ShownSkill }) {
  const { name, skill } = shown
  const { from, to } = useAddress().fields
  const found = usePaged(['skill', name, 'versions'], (page) => api.listVersions({ name, page }))
  if (skill.versions.length === 0) return <Empty>Nothing is published here yet.</Empty>
  return (
    <>
      {skill.versions.length > 1 && <Choice shown={shown} />}
      {from && to && <Comparison key={`${from} ${to}`} name={name} from={from} to={to} />}
      <h2>All versions</h2>
      <ItemList of={found} items={({ versions }) => versions}>
        {(version) => <Version key={version.version} shown={shown} version={version} />}
      </ItemList>
    </>
  )
}

const choicesMax = 200

function Choice({ shown: { skill, version } }: { shown: ShownSkill }) {
  const { fields, change } = useAddress()
  const options = skill.versions.slice(0, choicesMax).map((one) => [one.version, one.version] as const)
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

function Version({ shown, version }: { shown: ShownSkill; version: SkillVersion }) {
  const { name, skill } = shown
  const { versions } = skill
  const before = versions[versions.findIndex((one) => one.version === version.version) + 1]?.version
  return (
    <li>
      <h3>
        <a href={toAddress(addresses.skill(name), { version: version.version })}>{version.version}</a>
      </h3>
      <p class="facts">
        {version.version === skill.latestVersion && <Badge tone="good">latest</Badge>}
        {version.yanked && <Badge tone="bad">yanked</Badge>}
        <SecurityBadge score={version.security?.score ?? null} />
        {version.change && version.change.verdict !== 'safe' && (
          <Badge tone={verdictTones[version.change.verdict]}>change: {version.change.verdict}</Badge>
        )}
        <Time at={version.publishedAt} />
        <span>
          by <NameLink href={addresses.user(version.publisher.username)} name={version.publisher.username} />
        </span>
        <span>
          {toBytesText(version.size)}, {toCount(version.files.length, 'file')}
        </span>
        {!version.portable && (
          <span title="The strict rules of the SKILL.md format do not hold; some agents may not read it">
            not portable
          </span>
        )}
        {before && <a href={toTab(shown, 'versions', { from: before, to: version.version })}>Since {before}</a>}
      </p>
      {version.changelog ? <Changelog text={version.changelog} /> : <p class="faint">No changelog.</p>}
      {version.widens && (
        <p class={version.widens.patch ? 'fair' : ''}>
          It uses more than {version.widens.since}
          {version.widens.patch && ', although it is a patch version'}.{' '}
          <a href={toTab(shown, 'versions', { from: version.widens.since, to: version.version })}>See what</a>
        </p>
      )}
    </li>
  )
}

const shortCharactersMax = 600

function Changelog({ text }: { text: string }) {
  if (text.length <= shortCharactersMax) {
    return <UserText class="said-text">{text}</UserText>
  }
  return (
    <details>
      <summary>Changelog, {text.length.toLocaleString('en')} characters</summary>
      <UserText class="said-text">{text}</UserText>
    </details>
  )
}
