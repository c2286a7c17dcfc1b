import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList, usePaged } from '../../ui/page.tsx'
import { Badge, Count, SecurityBadge, Time, NameHeading, LinkButton } from '../../ui/parts.tsx'
import { useMe } from '../../session.ts'
import { ActionButton, ConfirmButton } from '../../ui/form.tsx'

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
      <Invitations />
      <Transfers />
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
            <NameHeading href={addresses.skill(skill.fullName)} name={skill.fullName} />
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

type Invitation = Awaited<ReturnType<typeof api.listInvitations>>['invitations'][number]

/** The skills that the user is invited to collaborate on; empty without invitations. */
function Invitations() {
  const found = useData(['invitations'], () => api.listInvitations())
  if (found.data?.total === 0 || found.isPending) return null
  return (
    <section class="card" aria-label="Invitations">
      <h2>Invitations</h2>
      <ItemList of={found} items={({ invitations }) => invitations}>
        {(invitation) => <Invited key={invitation.fullName} invitation={invitation} />}
      </ItemList>
    </section>
  )
}

function Invited({ invitation: { fullName, owner, role, createdAt } }: { invitation: Invitation }) {
  const me = useMe()
  return (
    <li class="row">
      <span>
        <bdi>{owner}</bdi> invites you to {role === 'write' ? 'publish' : 'read'} <bdi>{fullName}</bdi>,{' '}
        <Time at={createdAt} />
      </span>
      <ActionButton
        work={() => api.acceptCollaboration({ name: fullName })}
        refreshes={[['invitations'], ['own-skills'], ['skill'], ['skills']]}
      >
        Accept
      </ActionButton>
      <ActionButton
        work={() => api.deleteCollaborator({ name: fullName, username: me?.username ?? '' })}
        refreshes={[['invitations']]}
      >
        Decline
      </ActionButton>
    </li>
  )
}

type Transfer = Awaited<ReturnType<typeof api.listTransfers>>['transfers'][number]

/** The open transfers of skills to and from the user; empty without transfers. */
function Transfers() {
  const found = useData(['transfers'], () => api.listTransfers())
  if (found.data?.total === 0 || found.isPending) return null
  return (
    <section class="card" aria-label="Transfers">
      <h2>Transfers</h2>
      <ItemList of={found} items={({ transfers }) => transfers}>
        {(transfer) => <Offer key={`${transfer.fullName} ${transfer.newOwner}`} transfer={transfer} />}
      </ItemList>
    </section>
  )
}

function Offer({ transfer: { fullName, newOwner, createdAt } }: { transfer: Transfer }) {
  const isForMe = useMe()?.username === newOwner
  return (
    <li class="row">
      <span>
        <bdi>{fullName}</bdi> is offered to {isForMe ? 'you' : <bdi>{newOwner}</bdi>}, <Time at={createdAt} />
      </span>
      {isForMe && (
        <ConfirmButton
          action="Accept"
          title={`Accept ${fullName}?`}
          work={() => api.acceptTransfer({ name: fullName })}
          refreshes={[['transfers'], ['own-skills'], ['skill'], ['skills']]}
        >
          <p>You become its owner, with all its versions. Its former address redirects to the new one.</p>
        </ConfirmButton>
      )}
      <ActionButton work={() => api.cancelTransfer({ name: fullName })} refreshes={[['transfers']]}>
        {isForMe ? 'Decline' : 'Withdraw the offer'}
      </ActionButton>
    </li>
  )
}
