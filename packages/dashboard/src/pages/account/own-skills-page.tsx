import { api } from '../../api.ts'
import { Page, ItemList, usePaged } from '../../ui/page.tsx'
import { Badge, Count, SecurityBadge, Time, LinkButton } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'

const states = {
  published: undefined,
  yanked: 'all versions yanked',
  hidden: 'hidden',
  taken_down: 'taken down',
} as const

/** All skills of the user, including private ones. Actions on a skill are on its own page. */
export function OwnSkillsPage() {
  const own = usePaged(['own-skills'], (page) => api.listOwnSkills({ page }))
  return (
    <Page title="Your skills" aside={<LinkButton href="/account/publish">Publish</LinkButton>}>
      <ItemList
        of={own}
        items={({ skills }) => skills}
        empty={
          <>
            You have not published any skills yet. <a href="/account/publish">Publish a skill</a> by dropping its
            folder.
          </>
        }
      >
        {(skill) => (
          <li key={skill.id}>
            <h2>
              <SkillLink name={skill.fullName} />
            </h2>
            <p dir="auto">{skill.description}</p>
            <p class="facts">
              <Badge>{skill.visibility}</Badge>
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
    </Page>
  )
}
