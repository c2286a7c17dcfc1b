import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { api } from '../../api.ts'
import { addresses, useAddress } from '../../addresses.ts'
import { ConfirmButton, ActionButton, ActionSelect, Field, Form, SearchField, Select, choice } from '../../ui/form.tsx'
import { DataTable, Page, toNameColumn, toTimeColumn, usePaged, type Column } from '../../ui/page.tsx'
import { Badge, LinkButton, NewSecret, UserLink } from '../../ui/parts.tsx'
import { KeyTable, SessionTable, useKeys } from '../../ui/user-access.tsx'

type User = Awaited<ReturnType<typeof api.listUsers>>['users'][number]

const plans = ['free', 'pro', 'team', 'enterprise'] as const
const roleOptions = ['user', ['admin', 'administrator']] as const

const columns: readonly Column<User>[] = [
  toNameColumn('User', ({ username }) => username, UserLink),
  toTimeColumn('Since', ({ createdAt }) => createdAt),
  {
    title: 'Plan',
    by: ({ plan }) => plans.indexOf(plan),
    cell: ({ username, plan }) => (
      <ActionSelect
        label={`Plan of ${username}`}
        value={plan}
        options={plans}
        work={(to) => api.updateUser({ username, plan: to })}
      />
    ),
  },
  {
    title: 'Role',
    by: ({ role }) => role,
    cell: ({ username, role, kind }) =>
      kind === 'user' ? (
        <ActionSelect
          label={`Role of ${username}`}
          value={role}
          options={roleOptions}
          work={(to) => api.updateUser({ username, role: to })}
        />
      ) : (
        kind
      ),
  },
  // An organisation has no access and no keys: its members act for it.
  {
    title: 'Access',
    by: ({ disabled }) => Number(disabled),
    cell: (user) => user.kind === 'user' && <Access user={user} />,
  },
  {
    title: 'Keys',
    cell: (user) =>
      user.kind === 'user' && <LinkButton href={addresses.access(user.username)}>Keys and sessions</LinkButton>,
  },
]

/** The users with their plans; new users get their first key here. */
export function AdminUsersPage() {
  const { fields, change } = useAddress()
  const q = fields.q ?? ''
  const users = usePaged(['users', q], (page) => api.listUsers({ q, page, limit: 100, claimed: true }))
  return (
    <Page title="Users" hint="Who may sign in to this node, with which plan and role." aside={<NewUser />}>
      <SearchField label="Find a user" value={q} onChange={(text) => change({ q: text, page: undefined }, true)} />
      <DataTable of={users} items="users" label="Users" columns={columns}>
        No user has this in the name.
      </DataTable>
    </Page>
  )
}

/** The keys and sessions of a user, to end them. */
export function UserAccessPage() {
  const { username = '' } = useRoute().params
  const isReading = useKeys(username).isPending
  return (
    <Page
      title={`Keys and sessions of ${username}`}
      hint="What is ended here stops working at once. The audit log records it."
      aside={<IssuedKey key={username} username={username} />}
    >
      <h2>API keys</h2>
      <KeyTable username={username} />
      {/* Sessions are shown after the keys, because keys that arrive later would move the sessions down. */}
      {!isReading && (
        <>
          <h2>Sessions</h2>
          <SessionTable username={username} />
        </>
      )}
    </Page>
  )
}

function Access({ user: { username, disabled } }: { user: User }) {
  const change = { work: () => api.updateUser({ username, disabled: !disabled }) }
  if (disabled) {
    return (
      <>
        <Badge tone="bad">disabled</Badge> <ActionButton {...change}>Enable</ActionButton>
      </>
    )
  }
  return (
    <ConfirmButton action="Disable" title={`Disable ${username}?`} {...change}>
      <p>Keys and sessions stop working at once. The skills stay, and you can enable the user again.</p>
    </ConfirmButton>
  )
}

function IssuedKey({ username }: { username: string }) {
  const [made, setMade] = useState<{ key: string; expiresAt: string | null }>()
  if (made !== undefined) {
    return (
      <NewSecret label={`The new key of ${username}`} text={made.key} expiresAt={made.expiresAt}>
        Pass it on over a safe channel: it is shown only once.
      </NewSecret>
    )
  }
  const issue = async () => setMade(await api.issueKey({ username }))
  return (
    <ConfirmButton class="" action="Issue a key" title={`Issue a key for ${username}?`} work={issue}>
      <p>The key acts as this user, with all scopes. The user's other keys stay valid. The audit log records this.</p>
    </ConfirmButton>
  )
}

const NewUser = () => (
  <Form
    card="Create a user"
    work={({ username = '', plan, role }) =>
      api.createUser({ username, plan: choice(plans, plan), role: choice(roleOptions, role) })
    }
    answer={({ username, key, keyExpiresAt }, close) => (
      <NewSecret label="The new key" text={key} expiresAt={keyExpiresAt} onDone={close}>
        This is the first key of {username}. Pass it on over a safe channel: it is shown only once.
      </NewSecret>
    )}
    submit="Create user"
  >
    <Field label="Name" name="username" required hint="Lower-case letters, digits and hyphens." />
    <Select label="Plan" name="plan" options={plans} />
    <Select label="Role" name="role" options={roleOptions} />
  </Form>
)
