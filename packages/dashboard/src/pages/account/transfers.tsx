import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { ActionButton, useAction } from '../../ui/form.tsx'
import { Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

type Transfer = Awaited<ReturnType<typeof api.listTransfers>>['transfers'][number]

/** Open transfers of skills to and from the user; nothing without transfers. */
export function Transfers() {
  const found = useData(['transfers'], () => api.listTransfers())
  if (found.data?.total === 0 || found.isPending) return null
  return (
    <section class="card" aria-label="Transfers">
      <h2>Transfers</h2>
      <Shown of={found}>
        {({ transfers }) => (
          <ul class="plain">
            {transfers.map((transfer) => (
              <Offer key={`${transfer.fullName} ${transfer.newOwner}`} transfer={transfer} />
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

function Offer({ transfer: { fullName, newOwner, createdAt } }: { transfer: Transfer }) {
  const isForMe = useMe()?.username === newOwner
  const cancel = useAction(async () => {
    await api.cancelTransfer({ name: fullName })
    await refresh('transfers')
  })
  return (
    <li class="row">
      <span>
        <bdi>{fullName}</bdi> is offered to {isForMe ? 'you' : <bdi>{newOwner}</bdi>}, <Time at={createdAt} />
      </span>
      {isForMe && (
        <ConfirmButton
          action="Accept"
          title={`Accept ${fullName}?`}
          work={async () => {
            await api.acceptTransfer({ name: fullName })
            await Promise.all([refresh('transfers'), refresh('own-skills'), refresh('skill'), refresh('skills')])
          }}
        >
          <p>You become its owner, with all its versions. Its former address redirects to the new one.</p>
        </ConfirmButton>
      )}
      <ActionButton action={cancel}>{isForMe ? 'Decline' : 'Withdraw the offer'}</ActionButton>
    </li>
  )
}
