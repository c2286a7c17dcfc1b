import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { ConfirmButton, Check, Field, Form, useAction } from '../../ui/form.tsx'
import { DataTable, Page, toTimeColumn, type Column } from '../../ui/page.tsx'
import { NewSecret } from '../../ui/parts.tsx'

const scopes = [
  ['read', 'Read', 'what you can see'],
  ['publish', 'Publish', 'skills and packs in your name'],
  ['manage', 'Manage', 'keys, webhooks and settings'],
] as const
type Scope = (typeof scopes)[number][0]

type Key = Awaited<ReturnType<typeof api.listApiKeys>>['apiKeys'][number]

const columns: readonly Column<Key>[] = [
  { title: 'Name', names: true, by: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
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

/** API keys: created here, shown once, revocable at any time. */
export function KeysPage() {
  return (
    <Page
      title="API keys"
      hint="A key acts in your name. Give each program its own key, and revoke unused keys."
      aside={<NewKey />}
    >
      <KeyTable />
    </Page>
  )
}

/** The keys of the signed-in user, or for administrators those of another one. */
export function KeyTable({ username }: { username?: string }) {
  // A user has at most so many.
  const keys = useData(['keys', username], () => api.listApiKeys({ username, limit: 100 }))
  return (
    <DataTable
      of={keys}
      items={({ apiKeys }) => apiKeys}
      label="API keys"
      columns={columns}
      toKey={({ id }) => id}
      empty={username && `${username} has no API key.`}
    />
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
    <ConfirmButton action="Revoke" title={title} work={() => api.deleteApiKey({ id, withMade })} refreshes={[['keys']]}>
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

function NewKey() {
  const [secret, setSecret] = useState<{ key: string; expiresAt: string | null }>()
  const action = useAction(
    async (fields: Record<string, string>) => {
      const made = await api.createApiKey({
        name: fields.name!,
        expiresInDays: fields.days ? Number(fields.days) : undefined,
        scopes: scopes.map(([scope]) => scope).filter((scope): scope is Scope => fields[scope] === 'on'),
      })
      setSecret(made)
    },
    ['keys'],
  )
  if (secret !== undefined) {
    return (
      <NewSecret label="The new key" text={secret.key} expiresAt={secret.expiresAt} onDone={() => setSecret(undefined)}>
        Copy the key now: it is shown only once. The node stores only its digest.
      </NewSecret>
    )
  }
  return (
    <Form card="Create a key" action={action} submit="Create key">
      <Field
        label="Name"
        name="name"
        required
        maxLength={100}
        hint="What uses the key, such as the name of a machine."
      />
      <Field
        label="Expires after, in days"
        name="days"
        type="number"
        min={1}
        max={3650}
        defaultValue={90}
        hint="At most as long as the key that you signed in with. Empty: as long."
      />
      <fieldset>
        <legend>Scopes</legend>
        {scopes.map(([scope, title, what]) => (
          <Check key={scope} name={scope} defaultChecked={scope !== 'manage'}>
            {title}: {what}
          </Check>
        ))}
      </fieldset>
    </Form>
  )
}
