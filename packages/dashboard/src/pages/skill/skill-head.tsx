import { addresses, useAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { EvaluationBadge } from '../../ui/evaluations.tsx'
import { ActionButton, Select } from '../../ui/form.tsx'
import { Badge, Count, Time, UserText, By } from '../../ui/parts.tsx'
import { toShortName, toTab, type ShownSkill } from './shown-skill.ts'

/** Facts of a skill, shown above all tabs. */
export function SkillHead({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  return (
    <>
      {skill.displayName && skill.displayName !== toShortName(skill) && (
        <UserText class="display-name">{skill.displayName}</UserText>
      )}
      <UserText class="lead">{skill.description}</UserText>
      <div class="facts">
        {skill.verified && <Badge tone="good">verified</Badge>}
        {skill.deprecated && <Badge tone="fair">deprecated</Badge>}
        {skill.recalled && <Badge tone="bad">recalled</Badge>}
        {isYanked(shown) && <Badge tone="bad">yanked</Badge>}
        {skill.evaluations?.change === 'worse' && (
          <a href={toTab(shown, 'versions')}>
            <EvaluationBadge evaluations={skill.evaluations} />
          </a>
        )}
        {skill.stub && <Badge>stub</Badge>}
        {skill.visibility !== 'public' && <Badge>{skill.visibility}</Badge>}
        <By name={skill.author.username} />
        <Count of={skill.downloads} unit="download" />
        {skill.latestVersion && !skill.stub && <Time at={skill.publishedAt} verb="published" />}
      </div>
      <Warnings shown={shown} />
    </>
  )
}

const isYanked = ({ skill, version }: ShownSkill): boolean =>
  skill.versions.some((one) => one.version === version && one.yanked)

/** Maximum number of versions in the select list; the versions tab shows all. */
const versionsMax = 100

/** Next to the name: the selected version, the star, and the link to report the skill. */
export function HeadActions({ shown }: { shown: ShownSkill }) {
  const { skill, version } = shown
  const { change } = useAddress()
  const me = useMe()
  const choices = skill.versions.slice(0, versionsMax).map((one) => one.version)
  if (version && !choices.includes(version)) choices.push(version)
  const options = choices.map((one) => [one, one === skill.latestVersion ? `${one} (latest)` : one] as const)
  const choose = (one: string) =>
    change({ version: one === skill.latestVersion ? undefined : one, page: undefined, path: undefined })
  return (
    <div class="head-actions">
      {choices.length > 1 && (
        <Select label="Version" name="version" value={version} options={options} onChange={choose} />
      )}
      {me ? <StarButton shown={shown} /> : <Count of={skill.stars} unit="star" />}
      <a href={toTab(shown, 'report')}>Report</a>
    </div>
  )
}

function StarButton({ shown: { skill, name } }: { shown: ShownSkill }) {
  const star = useData(['skill', name, 'star'], () => api.getStar({ name }))
  const starred = star.data?.starred ?? false
  return (
    <span>
      <ActionButton work={() => (starred ? api.unstarSkill({ name }) : api.starSkill({ name }))}>
        {starred ? '★ Starred' : '☆ Star'} · {(star.data?.stars ?? skill.stars).toLocaleString('en')}
      </ActionButton>
    </span>
  )
}

/** Warnings to read before installing this version. */
function Warnings({ shown }: { shown: ShownSkill }) {
  const { skill, name, version } = shown
  const [highest] = skill.versions
  // If no version is shown, show the recall of the highest recalled version.
  const recalled = skill.recalled ?? (version ? undefined : skill.versions.find((one) => one.recalled)?.recalled)
  return (
    <>
      {recalled && (
        <div class="notice bad" role="alert">
          <strong>{version ? `Version ${version} is recalled.` : 'Recalled.'}</strong> Stop using versions in the range{' '}
          <code>{recalled.range}</code>. Installers and agents are refused these versions (
          <Time at={recalled.at} verb="recalled" />
          ). Reason: <bdi>{recalled.reason}</bdi>
        </div>
      )}
      {skill.deprecated && (
        <div class="notice fair">
          <strong>Deprecated.</strong>{' '}
          {skill.deprecationMessage ? (
            <bdi>
              {skill.deprecationMessage.split(fullNamePattern).map((part, place) =>
                place % 2 === 1 ? (
                  <a key={place} href={addresses.skill(part)}>
                    {part}
                  </a>
                ) : (
                  part
                ),
              )}
            </bdi>
          ) : (
            'Its owner no longer maintains it.'
          )}
        </div>
      )}
      {skill.security?.verdict === 'dangerous' && (
        <div class="notice bad">
          <strong>Scan verdict: dangerous.</strong> Do not install it before you have read{' '}
          <a href={toTab(shown, 'security')}>the findings</a>.
        </div>
      )}
      {isYanked(shown) && (
        <div class="notice bad">
          <strong>Version {version} is yanked.</strong> Its owner withdrew it; it is still served by its exact version
          number.
        </div>
      )}
      {!version && highest && (
        <div class="notice bad">
          <strong>All versions are yanked or recalled.</strong> See{' '}
          <a href={`${addresses.skill(name)}?version=${highest.version}`}>{highest.version}</a> to see what it was.
        </div>
      )}
      {!version && !highest && (
        <div class="notice plain">
          <strong>Nothing is published here.</strong> This entry only records that a skill of this name exists
          elsewhere.
        </div>
      )}
      {version && skill.latestVersion && version !== skill.latestVersion && (
        <div class="notice plain">
          This is version {version}. <a href={addresses.skill(name)}>Show the latest, {skill.latestVersion}</a>.
        </div>
      )}
    </>
  )
}

/**
 * Matches `owner/name` in a text, such as the replacement in a deprecation message; does not match parts of a URL or
 * path.
 */
const fullNamePattern = /(?<![\w./-])([a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/-])/g
