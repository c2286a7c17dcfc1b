import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { ActionButton, Field, Form, useAction } from '../../../ui/form.tsx'
import { Copyable, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'

/** Share links, which give read access to a skill that is not public. */
export function Shares({ name }: { name: string }) {
  const [token, setToken] = useState<string>()
  const shares = useData(['shares', name], () => api.listShares({ name }))
  const make = useAction(async ({ days }: Record<string, string>) => {
    setToken((await api.createShare({ name, expiresInDays: Number(days) })).token)
    await refresh('shares', name)
  })
  return (
    <section>
      <h2>Share links</h2>
      {token !== undefined && (
        <div class="card secret">
          <p role="status">Copy it now: it is shown only once. It gives read access to this skill.</p>
          <Copyable text={`npx skills add ${location.origin}/t/${token}`} />
          <button type="button" onClick={() => setToken(undefined)}>
            Done
          </button>
        </div>
      )}
      <Form action={make} submit="Create link">
        <Field label="Expires after, in days" name="days" type="number" min={1} max={365} required defaultValue="7" />
      </Form>
      <Shown of={shares}>
        {(found) => (
          <ul class="plain">
            {found.shares.map(({ id, createdAt, expiresAt }) => (
              <li key={id} class="row">
                <span>
                  made <Time at={createdAt} />, ends <Time at={expiresAt} />
                </span>
                <Revoke name={name} id={id} />
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

function Revoke({ name, id }: { name: string; id: string }) {
  const action = useAction(async () => {
    await api.deleteShare({ name, id })
    await refresh('shares', name)
  })
  return (
    <ActionButton action={action} danger>
      Revoke
    </ActionButton>
  )
}
