import '../../styles/people.css'
import { useRoute } from 'preact-iso'
import type { FunctionComponent } from 'preact'
import { addresses } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { mayDo, type SectionProps } from '../../organisations.ts'
import { useMe } from '../../session.ts'
import { ConfirmButton, Field, Form } from '../../ui/form.tsx'
import { OwnSkills } from '../../ui/own-skills.tsx'
import { LoadedPage, Page } from '../../ui/page.tsx'
import { Badge, LinkButton, Time, toCount, UserLink } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { forUsers } from '../placeholder-pages.tsx'
import { MembersSection } from './members-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { TeamsSection } from './teams-section.tsx'
import { TrustedSection } from './trusted-identities.tsx'

type Section = readonly [section: string, title: string, FunctionComponent<SectionProps>]
const sections: readonly Section[] = [
  ['', 'Members', MembersSection],
  ['teams', 'Teams', TeamsSection],
  ['skills', 'Skills', ({ organisation: { name } }) => <OwnSkills organisation={name} />],
  ['rules', 'Rules', RulesSection],
]
const forAdministrators: readonly Section[] = [
  ['ci', 'CI jobs', TrustedSection],
  ['settings', 'Settings', SettingsSection],
]

/** An organisation for its members: who they are, its teams, skills and rules. */
export default forUsers(() => {
  const { name = '', section = '' } = useRoute().params
  const found = useData(['organisation', name], () => api.getOrganisation({ organisation: name }))
  const isAdmin = useMe()?.role === 'admin'
  if (!found.data) return <LoadedPage title={name} of={found} children={() => null} />
  const { role, displayName, counts, createdAt } = found.data
  if (role === null && !isAdmin) {
    return (
      <Page title={displayName || name}>
        <p>
          Only members of <UserLink name={name} /> see this page. An owner or admin of the organisation can invite you;
          the invitation appears in <a href="/account">your inbox</a>.
        </p>
      </Page>
    )
  }
  const mayAdminister = mayDo(role, 'administer') || isAdmin
  const listed = mayAdminister ? [...sections, ...forAdministrators] : sections
  const Content = listed.find(([one]) => one === section)?.[2]
  return (
    <Page
      title={displayName || name}
      aside={mayDo(role, 'publish') && <LinkButton href="/account/publish">Publish</LinkButton>}
    >
      <p class="facts">
        <UserLink name={name} />
        <Badge>organisation</Badge>
        <span>{role === null ? 'you operate this node' : `your role: ${role}`}</span>
        <span>{toCount(counts.members, 'member')}</span>
        <a href={addresses.packsOf(name)}>its packs</a>
        <Time at={createdAt} verb="created" />
      </p>
      <Tabs
        label="Parts of the organisation"
        tabs={listed.map(([one, title]) => ({
          href: addresses.organisation(name, one),
          title,
          current: one === section,
        }))}
      />
      {Content ? (
        <Content key={name} organisation={found.data} mayAdminister={mayAdminister} />
      ) : (
        <p>
          There is no such page of this organisation. <a href={addresses.organisation(name)}>Go to its members</a>.
        </p>
      )}
    </Page>
  )
})

function SettingsSection({ organisation: { name: organisation, displayName, role } }: SectionProps) {
  return (
    <>
      <Form
        work={(fields) => api.updateOrganisation({ organisation, displayName: fields.displayName })}
        submit="Save"
        done="Saved."
      >
        <Field label="Display name" name="displayName" required maxLength={200} defaultValue={displayName} />
      </Form>
      {mayDo(role, 'own') && (
        <ConfirmButton
          action="Delete the organisation"
          title={`Delete ${organisation}?`}
          work={() => api.deleteOrganisation({ organisation })}
          leadsTo="/account"
        >
          <p>Its members, teams and rules are deleted. Its name cannot be used again. This cannot be undone.</p>
          <p>Transfer or delete its skills and packs first: an organisation that has any is not deleted.</p>
        </ConfirmButton>
      )}
    </>
  )
}
