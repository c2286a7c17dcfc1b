import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { ActionButton, useAction } from '../../ui/form.tsx'
import { Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

type Invitation = Awaited<ReturnType<typeof api.listInvitations>>['invitations'][number]

/** Skills that the user is invited to collaborate on; nothing without invitations. */
export function Invitations() {
  const found = useData(['invitations'], () => api.listInvitations())
  if (found.data?.total === 0 || found.isPending) return null
  return (
    <section class="card" aria-label="Invitations">
      <h2>Invitations</h2>
      <Shown of={found}>
        {({ invitations }) => (
          <ul class="plain">
            {invitations.map((invitation) => (
              <Invited key={invitation.fullName} invitation={invitation} />
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

function Invited({ invitation: { fullName, owner, role, createdAt } }: { invitation: Invitation }) {
  const me = useMe()
  const accept = useAction(async () => {
    await api.acceptCollaboration({ name: fullName })
    await Promise.all([refresh('invitations'), refresh('own-skills'), refresh('skill'), refresh('skills')])
  })
  const decline = useAction(async () => {
    await api.deleteCollaborator({ name: fullName, username: me?.username ?? '' })
    await refresh('invitations')
  })
  return (
    <li class="row">
      <span>
        <bdi>{owner}</bdi> invites you to {role === 'write' ? 'publish' : 'read'} <bdi>{fullName}</bdi>,{' '}
        <Time at={createdAt} />
      </span>
      <ActionButton action={accept}>Accept</ActionButton>
      <ActionButton action={decline}>Decline</ActionButton>
    </li>
  )
}
