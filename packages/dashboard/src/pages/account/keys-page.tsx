import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useData } from '../../data/queries.ts'
import { useAddress } from '../../data/use-address.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Check, Field, Form, useAction } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Copyable, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

const scopes = [
  ['read', 'Read', 'what you can see'],
  ['publish', 'Publish', 'skills and packs in your name'],
  ['manage', 'Manage', 'keys, webhooks and settings'],
] as const
type Scope = (typeof scopes)[number][0]

const columns = ['Name', 'Begins with', 'Scopes', 'Created', 'Last used', 'Expires', 'Revoke'].map((title) => ({
  title,
}))

/** API keys: created here, shown once, revocable at any time. */
export function KeysPage() {
  const { fields } = useAddress()
  const page = toPageNumber(fields.page)
  const keys = useData(['keys', page], () => api.listApiKeys({ page }))
  return (
    <Page title="API keys">
      <p class="faint">A key acts in your name. Give each program its own key, and revoke unused keys.</p>
      <NewKey />
      <Shown of={keys}>
        {({ apiKeys, totalPages }) => (
          <>
            <DataTable label="Your keys" columns={columns}>
              {apiKeys.map((key) => (
                <tr key={key.id}>
                  <th scope="row">
                    <bdi>{key.name}</bdi>
                  </th>
                  <td>
                    <code>{key.prefix}</code>
                  </td>
                  <td>{key.scopes.join(', ')}</td>
                  <td>
                    <Time at={key.createdAt} />
                  </td>
                  <td>{key.lastUsedAt ? <Time at={key.lastUsedAt} /> : 'never'}</td>
                  <td>{key.expiresAt ? <Time at={key.expiresAt} /> : 'never'}</td>
                  <td>
                    <ConfirmButton
                      action="Revoke"
                      title={
                        <>
                          Revoke <bdi>{key.name}</bdi>?
                        </>
                      }
                      work={async () => {
                        await api.deleteApiKey({ id: key.id })
                        await refresh('keys')
                      }}
                    >
                      <p>Programs that use this key stop working at once, and sessions opened with it end.</p>
                    </ConfirmButton>
                  </td>
                </tr>
              ))}
            </DataTable>
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}

function NewKey() {
  const [secret, setSecret] = useState<string>()
  const action = useAction(async (fields: Record<string, string>) => {
    const { key } = await api.createApiKey({
      name: fields.name!,
      expiresInDays: fields.days ? Number(fields.days) : undefined,
      scopes: scopes.map(([scope]) => scope).filter((scope): scope is Scope => fields[scope] === 'on'),
    })
    setSecret(key)
    await refresh('keys')
  })
  if (secret !== undefined) {
    return (
      <section class="card secret" aria-label="The new key">
        <p role="status">Copy the key now: it is shown only once. The node stores only its digest.</p>
        <Copyable text={secret} />
        <button type="button" onClick={() => setSecret(undefined)}>
          Done
        </button>
      </section>
    )
  }
  return (
    <details class="card">
      <summary>Create a key</summary>
      <Form action={action} submit="Create key">
        <Field
          label="Name"
          name="name"
          required
          maxLength={100}
          hint="What uses the key, such as the name of a machine."
        />
        <Field label="Expires after, in days" name="days" type="number" min={1} max={3650} hint="Empty: never." />
        <fieldset>
          <legend>Scopes</legend>
          {scopes.map(([scope, title, what]) => (
            <Check key={scope} name={scope} defaultChecked>
              {title}: {what}
            </Check>
          ))}
        </fieldset>
      </Form>
    </details>
  )
}
