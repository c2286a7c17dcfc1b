import { api } from '../../api.ts'
import { ConfirmButton } from '../../ui/form.tsx'
import { DataTable, Page, toTimeColumn, usePaged, type Column } from '../../ui/page.tsx'
import { Badge } from '../../ui/parts.tsx'

type Session = Awaited<ReturnType<typeof api.listSessions>>['sessions'][number]

const columns: readonly Column<Session>[] = [
  { title: 'Opened with', names: true, cell: ({ openedBy }) => <bdi>{openedBy}</bdi> },
  toTimeColumn('Signed in', ({ createdAt }) => createdAt),
  toTimeColumn('Last used', ({ lastUsedAt }) => lastUsedAt),
  toTimeColumn('Ends', ({ expiresAt }) => expiresAt),
  { title: 'Action', cell: (session) => <End of={session} /> },
]

/** The browsers in which the user is signed in. */
export function SessionsPage() {
  return (
    <Page title="Sessions" hint="The browsers in which you are signed in. End those that you do not know.">
      <SessionTable />
    </Page>
  )
}

/** The sessions of the signed-in user, or for administrators those of another one. */
export function SessionTable({ username }: { username?: string }) {
  const sessions = usePaged(['sessions', username], (page) => api.listSessions({ username, page }))
  return (
    <DataTable
      of={sessions}
      items={(found) => found.sessions}
      label="Sessions"
      columns={columns}
      toKey={({ id }) => id}
      empty={username && `${username} is signed in nowhere.`}
    />
  )
}

function End({ of: { id, current } }: { of: Session }) {
  if (current) return <Badge tone="good">this browser</Badge>
  return (
    <ConfirmButton
      action="End"
      title="End this session?"
      work={() => api.endSession({ id })}
      refreshes={[['sessions']]}
    >
      <p>The browser is signed out at once. API keys stay valid.</p>
    </ConfirmButton>
  )
}
