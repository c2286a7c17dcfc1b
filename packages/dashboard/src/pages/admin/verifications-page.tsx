import { verificationStatuses } from '@skillstead/protocol'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList } from '../../ui/page.tsx'
import { Badge, Time, UserText, NameHeading } from '../../ui/parts.tsx'
import { Decide, useItemsByStatus } from './decide.tsx'

const verify = ['verified', 'Verify'] as const
const reject = ['rejected', 'Reject'] as const
const revoke = ['rejected', 'Revoke the verification'] as const

/** Verification requests of authors; the node itself checks proofs by domain and GitHub. */
export function VerificationsPage() {
  const { found, filter } = useItemsByStatus(['verifications'], verificationStatuses, 'pending', api.listVerifications)
  return (
    <Page
      title="Verifications"
      hint="Authors who ask to be verified; the node checks domains and GitHub accounts itself."
    >
      {filter}
      <ItemList of={found} items="verifications" label="Verifications" empty="No verifications in this state.">
        {(one) => (
          <li key={one.id}>
            <NameHeading href={addresses.user(one.username)} name={one.username} />
            <p class="facts">
              <Badge tone={one.status === 'pending' ? 'fair' : 'plain'}>{one.status}</Badge>
              <span>{one.method}</span>
              <Time at={one.createdAt} verb="requested" />
            </p>
            <p dir="auto">{one.proof}</p>
            {one.note && <UserText class="faint">{one.note}</UserText>}
            {one.status !== 'rejected' && (one.status === 'verified' || one.method === 'manual') && (
              <Decide
                subject={one.username}
                decisions={one.status === 'verified' ? [revoke] : [verify, reject]}
                noteHint="The author can read this."
                work={(status, note) => api.decideVerification({ id: one.id, status, note })}
              />
            )}
          </li>
        )}
      </ItemList>
    </Page>
  )
}
