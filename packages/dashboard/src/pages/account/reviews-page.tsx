import type { QuarantinedVersion } from '@skillstead/protocol'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { verdictTones } from '../../ui/findings.tsx'
import { type Column, DataTable, Page, toTimeColumn, usePaged } from '../../ui/page.tsx'
import { Badge, UserLink, toCount } from '../../ui/parts.tsx'
import { FullName } from '../../ui/skill-list.tsx'

/** The versions that wait for the user as a reviewer, and the user's own submissions. */
export function ReviewsPage() {
  const me = useMe()!
  const found = usePaged(['quarantine', 'own'], (page) => api.listQuarantined({ own: true, page }))
  const columns: readonly Column<QuarantinedVersion>[] = [
    {
      title: 'Version',
      names: true,
      by: ({ fullName }) => fullName,
      cell: ({ id, fullName, version }) => (
        <a href={addresses.review(id)}>
          <FullName name={fullName} /> {version}
        </a>
      ),
    },
    {
      title: 'By',
      by: ({ publisher }) => publisher.username,
      cell: ({ publisher: { username } }) => (username === me.username ? 'you' : <UserLink name={username} />),
    },
    { title: 'Scan', cell: ({ security: { verdict } }) => <Badge tone={verdictTones[verdict]}>{verdict}</Badge> },
    { title: 'Waits for', cell: ({ approvals }) => (approvals ? toApprovalWords(approvals) : 'an administrator') },
    toTimeColumn('Submitted', ({ createdAt }) => createdAt),
  ]
  return (
    <Page
      title="Approvals"
      hint="Versions that wait for your approval, and your own versions that are not published yet."
    >
      <DataTable of={found} items="quarantined" label="Versions that wait" columns={columns}>
        No version waits. Versions of organisations that demand approval appear here, for their reviewers and authors.
      </DataTable>
    </Page>
  )
}

/** How far the approval of a version is, in words. */
export function toApprovalWords({
  needed,
  given,
  changesRequested,
}: NonNullable<QuarantinedVersion['approvals']>): string {
  return `${given} of ${toCount(needed, 'approval')}${changesRequested ? ', changes requested' : ''}`
}
