import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { useAddress } from '../../data/use-address.ts'
import { ActionButton, Select, useAction } from '../../ui/form.tsx'
import { Badge, Count, SecurityBadge, Time } from '../../ui/parts.tsx'
import { toShortName, toTab, type ShownSkill } from './shown-skill.ts'
import { Warnings } from './warnings.tsx'

/** Facts of a skill, shown above all tabs. */
export function SkillHead({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  return (
    <>
      {skill.displayName && skill.displayName !== toShortName(skill) && (
        <p class="display-name" dir="auto">
          {skill.displayName}
        </p>
      )}
      <p class="lead" dir="auto">
        {skill.description}
      </p>
      <Facts shown={shown} />
      <Warnings shown={shown} />
    </>
  )
}

function Facts({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  const upstream = skill.origin.upstream
  return (
    <div class="facts">
      {skill.verified && <Badge tone="good">verified</Badge>}
      {skill.deprecated && <Badge tone="fair">deprecated</Badge>}
      {isYanked(shown) && <Badge tone="bad">yanked</Badge>}
      {skill.stub && <Badge>stub</Badge>}
      {skill.visibility !== 'public' && <Badge>{skill.visibility}</Badge>}
      <SecurityBadge score={skill.security?.score ?? null} />
      {skill.license && <bdi>{skill.license}</bdi>}
      {skill.category && <bdi>{skill.category}</bdi>}
      <span>
        by{' '}
        <a href={addresses.user(skill.author.username)}>
          <bdi>{skill.author.username}</bdi>
        </a>
      </span>
      <Count of={skill.downloads} unit="download" />
      {skill.latestVersion && !skill.stub && (
        <span>
          published <Time at={skill.publishedAt} />
        </span>
      )}
      {skill.forkedFrom && (
        <span>
          forked from{' '}
          <a href={addresses.skill(skill.forkedFrom.fullName)}>
            <bdi>{skill.forkedFrom.fullName}</bdi>
          </a>{' '}
          {skill.forkedFrom.version}
        </span>
      )}
      {skill.origin.kind !== 'local' && (
        <span>
          {skill.origin.kind === 'mirror' ? 'mirrored' : 'imported'} from <bdi>{upstream ?? 'elsewhere'}</bdi>
          {skill.origin.syncedAt && (
            <>
              , <Time at={skill.origin.syncedAt} />
            </>
          )}
        </span>
      )}
    </div>
  )
}

export function isYanked({ skill, version }: ShownSkill): boolean {
  return skill.versions.some((one) => one.version === version && one.yanked)
}

/** Users do not scroll through longer select lists; there is a tab for versions. */
const versionsMax = 100

/** Next to the name: the selected version, the star, and the link to report the skill. */
export function HeadActions({ shown }: { shown: ShownSkill }) {
  const { skill, version } = shown
  const { change } = useAddress()
  const me = useMe()
  const choices = skill.versions.slice(0, versionsMax).map((one) => one.version)
  if (version && !choices.includes(version)) choices.push(version)
  const toTitle = (one: string) => (one === skill.latestVersion ? `${one} (latest)` : one)
  return (
    <div class="head-actions">
      {choices.length > 1 && (
        <Select
          label="Version"
          name="version"
          value={version}
          options={choices.map((one) => [one, toTitle(one)] as const)}
          onChange={(one) =>
            change({ version: one === skill.latestVersion ? undefined : one, page: undefined, path: undefined })
          }
        />
      )}
      {me ? <StarButton shown={shown} /> : <Count of={skill.stars} unit="star" />}
      <a href={toTab(shown, 'report')}>Report</a>
    </div>
  )
}

function StarButton({ shown: { skill, name } }: { shown: ShownSkill }) {
  const star = useData(['skill', name, 'star'], () => api.getStar({ name }))
  const starred = star.data?.starred ?? false
  const action = useAction(async () => {
    await (starred ? api.unstarSkill({ name }) : api.starSkill({ name }))
    await refresh('skill', name)
    await refresh('stars')
  })
  return (
    <span>
      <ActionButton action={action}>
        {starred ? '★ Starred' : '☆ Star'} · {(star.data?.stars ?? skill.stars).toLocaleString('en')}
      </ActionButton>
    </span>
  )
}
