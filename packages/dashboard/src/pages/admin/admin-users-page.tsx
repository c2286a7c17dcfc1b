import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { ActionButton, Field, Form, Outcome, Select, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Badge, Copyable, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

type User = Awaited<ReturnType<typeof api.listUsers>>['users'][number]

const plans = ['free', 'pro', 'team', 'enterprise'] as const
const planOptions = plans.map((plan) => [plan, plan] as const)
const roleOptions = [
  ['user', 'user'],
  ['admin', 'administrator'],
] as const

const columns = ['User', 'Since', 'Plan', 'Role', 'Access', 'Keys'].map((title) => ({ title }))

/** The users with their plans; new users get their first key here. */
export function UsersPage() {
  const page = toPageNumber(useAddress().fields.page)
  const users = useData(['users', page], () => api.listUsers({ page, claimed: true }))
  return (
    <Page title="Users">
      <NewUser />
      <Shown of={users}>
        {(found) => (
          <>
            <DataTable label="Users" columns={columns}>
              {found.users.map((user) => (
                <UserRow key={user.id} user={user} />
              ))}
            </DataTable>
            <Pager page={page} totalPages={found.totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}

function UserRow({ user }: { user: User }) {
  const { username, plan, role, disabled } = user
  const [key, setKey] = useState<string>()
  const change = useAction(async (some: Partial<Pick<User, 'plan' | 'role' | 'disabled'>>) => {
    await api.updateUser({ username, ...some })
    await refresh('users')
  })
  return (
    <tr>
      <th scope="row">
        <a href={addresses.user(username)}>
          <bdi>{username}</bdi>
        </a>
      </th>
      <td>
        <Time at={user.createdAt} />
      </td>
      <td>
        <select
          aria-label={`Plan of ${username}`}
          value={plan}
          onChange={(event) => change.run({ plan: event.currentTarget.value as User['plan'] })}
        >
          {plans.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </td>
      <td>
        <select
          aria-label={`Role of ${username}`}
          value={role}
          onChange={(event) => change.run({ role: event.currentTarget.value as User['role'] })}
        >
          {roleOptions.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </td>
      <td>
        {disabled ? (
          <>
            <Badge tone="bad">disabled</Badge>{' '}
            <ActionButton action={{ ...change, error: null, run: () => change.run({ disabled: false }) }}>
              Let in
            </ActionButton>
          </>
        ) : (
          <ConfirmButton
            action="Disable"
            title={`Shut ${username} out?`}
            work={async () => {
              await api.updateUser({ username, disabled: true })
              await refresh('users')
            }}
          >
            <p>Keys and sessions stop working at once. The skills stay, and you can enable the user again.</p>
          </ConfirmButton>
        )}
        <Outcome of={change} />
      </td>
      <td>
        {key === undefined ? (
          <ConfirmButton
            action="Issue a key"
            title={`Issue a key for ${username}?`}
            work={async () => setKey((await api.issueKey({ username })).key)}
          >
            <p>
              The key acts as this user, with all scopes. The user's other keys stay valid. The audit log records this.
            </p>
          </ConfirmButton>
        ) : (
          <section class="secret" aria-label={`The new key of ${username}`}>
            <p role="status">Pass it on over a safe channel: it is shown only once.</p>
            <Copyable text={key} />
          </section>
        )}
      </td>
    </tr>
  )
}

function NewUser() {
  const [made, setMade] = useState<{ username: string; key: string }>()
  const action = useAction(async ({ username = '', plan, role }: Record<string, string>) => {
    const { key } = await api.createUser({ username, plan: plan as User['plan'], role: role as User['role'] })
    setMade({ username, key })
    await refresh('users')
  })
  if (made) {
    return (
      <section class="card secret" aria-label="The new key">
        <p role="status">
          This is the first key of {made.username}. Pass it on over a safe channel: it is shown only once.
        </p>
        <Copyable text={made.key} />
        <button type="button" onClick={() => setMade(undefined)}>
          Done
        </button>
      </section>
    )
  }
  return (
    <details class="card">
      <summary>Create a user</summary>
      <Form action={action} submit="Create user">
        <Field label="Name" name="username" required hint="Lower-case letters, digits and hyphens." />
        <Select label="Plan" name="plan" options={planOptions} />
        <Select label="Role" name="role" options={roleOptions} />
      </Form>
    </details>
  )
}
