import { limits } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { api, useData } from '../api.ts'
import { Check, ConfirmButton } from './form.tsx'
import { type Column, DataTable, toTimeColumn, usePaged } from './page.tsx'
import { Badge } from './parts.tsx'

type Key = Awaited<ReturnType<typeof api.listApiKeys>>['apiKeys'][number]

const keyColumns: readonly Column<Key>[] = [
  { title: 'Name', names: true, by: ({ name }) => name },
  { title: 'Begins with', cell: ({ prefix }) => <code>{prefix}</code> },
  {
    title: 'Scopes',
    cell: ({ scopes: granted, limitedTo }) => granted.join(', ') + (limitedTo ? `, only ${limitedTo}` : ''),
  },
  toTimeColumn('Created', ({ createdAt }) => createdAt),
  toTimeColumn('Last used', ({ lastUsedAt }) => lastUsedAt, 'never'),
  { title: 'Expires', by: ({ expiresAt }) => expiresAt, cell: ({ expiresAt }) => expiresAt?.slice(0, 10) ?? 'never' },
  { title: 'Action', cell: (key) => <Revoke of={key} /> },
]

/** The keys of the signed-in user; for administrators also those of another user. */
export const useKeys = (username?: string) =>
  useData(['keys', username], () => api.listApiKeys({ username, limit: limits.apiKeysPerUserMax }))

/** A table of the keys that `useKeys` reads. */
export function KeyTable({ username }: { username?: string }) {
  const keys = useKeys(username)
  return (
    <DataTable of={keys} items="apiKeys" label="API keys" columns={keyColumns}>
      {username && `${username} has no API key.`}
    </DataTable>
  )
}

function Revoke({ of: { id, name, made = 0 } }: { of: Key }) {
  const [withMade, setWithMade] = useState(false)
  const title = (
    <>
      Revoke <bdi>{name}</bdi>?
    </>
  )
  return (
    <ConfirmButton action="Revoke" title={title} work={() => api.deleteApiKey({ id, withMade })}>
      <p>Programs that use this key stop working at once, and sessions opened with it end.</p>
      {made > 0 && (
        <Check checked={withMade} onChange={(event) => setWithMade(event.currentTarget.checked)}>
          This key made {made} other {made === 1 ? 'key or share link' : 'keys and share links'}: revoke them, too, and
          what they made
        </Check>
      )}
    </ConfirmButton>
  )
}

type Session = Awaited<ReturnType<typeof api.listSessions>>['sessions'][number]

const sessionColumns: readonly Column<Session>[] = [
  { title: 'Opened with', names: true, cell: ({ openedBy }) => <bdi>{openedBy}</bdi> },
  toTimeColumn('Signed in', ({ createdAt }) => createdAt),
  toTimeColumn('Last used', ({ lastUsedAt }) => lastUsedAt),
  toTimeColumn('Ends', ({ expiresAt }) => expiresAt),
  {
    title: 'Action',
    cell({ id, current }) {
      if (current) return <Badge tone="good">this browser</Badge>
      return (
        <ConfirmButton action="End" title="End this session?" work={() => api.endSession({ id })}>
          <p>The browser is signed out at once. API keys stay valid.</p>
        </ConfirmButton>
      )
    },
  },
]

/** A table of the sessions of the signed-in user; for administrators also of those of another user. */
export function SessionTable({ username }: { username?: string }) {
  const sessions = usePaged(['sessions', username], (page) => api.listSessions({ username, page }))
  return (
    <DataTable of={sessions} items="sessions" label="Sessions" columns={sessionColumns}>
      {username && `${username} is signed in nowhere.`}
    </DataTable>
  )
}
