import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { ActionButton, Field, Form, useAction } from '../../../ui/form.tsx'
import { Copyable, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'

/** Links that let whoever holds them read a skill that is not public. */
export function Shares({ name }: { name: string }) {
  const [token, setToken] = useState<string>()
  const shares = useData(['shares', name], () => api.listShares({ name }))
  const make = useAction(async ({ days }: Record<string, string>) => {
    setToken((await api.createShare({ name, expiresInDays: Number(days) })).token)
    await refresh('shares', name)
  })
  return (
    <section>
      <h2>Links for others</h2>
      {token !== undefined && (
        <div class="card secret">
          <p role="status">Copy it now: it is shown this once. Whoever has it can read this skill.</p>
          <Copyable text={`npx skills add ${location.origin}/t/${token}`} />
          <button type="button" onClick={() => setToken(undefined)}>
            I have it
          </button>
        </div>
      )}
      <Form action={make} submit="Make a link">
        <Field label="Ends after, in days" name="days" type="number" min={1} max={365} required defaultValue="7" />
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
