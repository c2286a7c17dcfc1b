import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { Page } from '../../ui/page.tsx'
import { toPageNumber } from '../../ui/pager.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Decide } from './decide.tsx'
import { Queue } from './queue.tsx'
import { StatusFilter, useStatus } from './status-filter.tsx'

const statuses = ['pending', 'verified', 'rejected'] as const

/** Verification requests of authors; the node itself checks proofs by domain and GitHub. */
export function VerificationsPage() {
  const page = toPageNumber(useAddress().fields.page)
  const status = useStatus(statuses, 'pending')
  const wanted = { status: status || undefined, page }
  const found = useData(['verifications', wanted], () => api.listVerifications(wanted))
  return (
    <Page title="Verifications">
      <StatusFilter label="State" all={statuses} value={status} />
      <Shown of={found}>
        {({ verifications, totalPages }) => (
          <Queue
            items={verifications}
            label="Verifications"
            empty="No verifications in this state."
            page={page}
            totalPages={totalPages}
          >
            {(one) => (
              <li key={one.id}>
                <h2>
                  <a href={addresses.user(one.username)}>
                    <bdi>{one.username}</bdi>
                  </a>
                </h2>
                <p class="facts">
                  <Badge tone={one.status === 'pending' ? 'fair' : 'plain'}>{one.status}</Badge>
                  <span>{one.method}</span>
                  <span>
                    asked <Time at={one.createdAt} />
                  </span>
                </p>
                <p dir="auto">{one.proof}</p>
                {one.note && (
                  <p class="faint" dir="auto">
                    {one.note}
                  </p>
                )}
                {one.status !== 'rejected' && (one.status === 'verified' || one.method === 'manual') && (
                  <Decide
                    subject={one.username}
                    decisions={
                      one.status === 'verified'
                        ? [['rejected', 'Revoke the verification']]
                        : [
                            ['verified', 'Verify'],
                            ['rejected', 'Reject'],
                          ]
                    }
                    noteHint="The author can read this."
                    work={async (decision, note) => {
                      await api.decideVerification({ id: one.id, status: decision, note })
                      await refresh('verifications')
                    }}
                  />
                )}
              </li>
            )}
          </Queue>
        )}
      </Shown>
    </Page>
  )
}
