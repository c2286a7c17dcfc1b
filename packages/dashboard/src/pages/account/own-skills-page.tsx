import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Badge, Count, Empty, SecurityBadge, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Invitations } from './invitations.tsx'
import { Transfers } from './transfers.tsx'

const states = {
  published: undefined,
  yanked: 'all versions yanked',
  hidden: 'hidden',
  taken_down: 'taken down',
} as const

/** All skills of the user, including private ones. Actions on a skill are on its own page. */
export function OwnSkillsPage() {
  const page = toPageNumber(useAddress().fields.page)
  const own = useData(['own-skills', page], () => api.listOwnSkills({ page }))
  return (
    <Page
      title="Your skills"
      aside={
        <a class="button" href="/account/publish">
          Publish
        </a>
      }
    >
      <Invitations />
      <Transfers />
      <Shown of={own}>
        {({ skills, totalPages }) => (
          <>
            {skills.length === 0 && (
              <Empty>
                <p>
                  You have not published any skills yet. <a href="/account/publish">Publish a skill</a> by dropping its
                  folder.
                </p>
              </Empty>
            )}
            <ul class="plain">
              {skills.map((skill) => (
                <li key={skill.id}>
                  <h2>
                    <a href={addresses.skill(skill.fullName)}>
                      <bdi>{skill.fullName}</bdi>
                    </a>
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
              ))}
            </ul>
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}
