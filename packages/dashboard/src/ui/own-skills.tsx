import { api } from '../api.ts'
import { ItemList, usePaged } from './page.tsx'
import { Badge, Count, SecurityBadge, Time } from './parts.tsx'
import { SkillLink } from './skill-list.tsx'

const states = {
  published: undefined,
  yanked: 'all versions yanked',
  recalled: 'recalled',
  hidden: 'hidden',
  taken_down: 'taken down',
} as const

/** The skills of the user or of an organisation in every state. */
export function OwnSkills({ organisation }: { organisation?: string }) {
  const own = usePaged(['own-skills', organisation], (page) => api.listOwnSkills({ organisation, page }))
  const none = (
    <>
      {organisation ? 'It has no skills that you may see' : 'You have not published any skills'} yet.{' '}
      <a href="/account/publish">Publish a skill</a> by dropping its folder.
    </>
  )
  return (
    <ItemList of={own} items="skills" empty={none}>
      {(skill) => (
        <li key={skill.id}>
          <h2>
            <SkillLink name={skill.fullName} />
          </h2>
          <p dir="auto">{skill.description}</p>
          <p class="facts">
            <Badge>{skill.organisation ? `members of ${skill.organisation}` : skill.visibility}</Badge>
            {states[skill.state] && <Badge tone="bad">{states[skill.state]}</Badge>}
            {skill.flagged && <Badge tone="bad">flagged</Badge>}
            {skill.deprecated && <Badge tone="fair">deprecated</Badge>}
            <SecurityBadge score={skill.securityScore} />
            {skill.latestVersion && <span>{skill.latestVersion}</span>}
            <Count of={skill.downloads} unit="download" />
            <Count of={skill.stars} unit="star" />
            <Time at={skill.updatedAt} />
          </p>
        </li>
      )}
    </ItemList>
  )
}
