import { nodeUrl } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { ActionButton, Field, Form, Select, useAction, type Fields } from '../../ui/form.tsx'
import { useState } from 'preact/hooks'
import { Time, NewSecret } from '../../ui/parts.tsx'
import { ItemList } from '../../ui/page.tsx'

const roles = [
  ['read', 'may read it'],
  ['write', 'may publish it'],
] as const

/** The collaborators of a skill, and its transfer. */
export function HandOver({ name }: { name: string }) {
  const people = useData(['collaborators', name], () => api.listCollaborators({ name }))
  const add = useAction(({ username = '', role }: Fields) =>
    api.putCollaborator({ name, username, role: role as 'read' | 'write' }),
  )
  const transfer = useAction(({ newOwner = '' }: Fields) => api.transferSkill({ name, newOwner }))
  return (
    <>
      <section>
        <h2>Collaborators</h2>
        <ItemList of={people} items="collaborators">
          {({ username, role, status }) => (
            <li key={username} class="row">
              <bdi>{username}</bdi>
              <span class="faint">
                {roles.find(([value]) => value === role)?.[1]}
                {status === 'invited' && ', invited'}
              </span>
              <ActionButton danger work={() => api.deleteCollaborator({ name, username })}>
                Remove {username}
              </ActionButton>
            </li>
          )}
        </ItemList>
        <Form action={add} submit="Invite" done="Invited. The user sees the skill after accepting.">
          <Field label="User" name="username" required />
          <Select label="Who" name="role" options={roles} />
        </Form>
      </section>
      <section>
        <h2>Transfer</h2>
        <p class="hint">
          Open offers are in <a href="/account">your inbox</a>, where you can withdraw them.
        </p>
        <Form action={transfer} submit="Offer" done="Offered. The transfer happens when the new owner accepts.">
          <Field label="New owner" name="newOwner" required>
            The former address redirects to the new one.
          </Field>
        </Form>
      </section>
    </>
  )
}

/** Share links, which give read access to a skill that is not public. */
export function Shares({ name }: { name: string }) {
  const [token, setToken] = useState<string>()
  const shares = useData(['shares', name], () => api.listShares({ name }))
  const make = useAction(async ({ days }: Fields) => {
    setToken((await api.createShare({ name, expiresInDays: Number(days) })).token)
  })
  return (
    <section>
      <h2>Share links</h2>
      {token !== undefined && (
        <NewSecret
          label="The share link"
          text={`npx skills add ${nodeUrl}/t/${token}`}
          onDone={() => setToken(undefined)}
        >
          Copy it now: it is shown only once. It gives read access to this skill.
        </NewSecret>
      )}
      <Form action={make} submit="Create link">
        <Field label="Expires after, in days" name="days" type="number" min={1} max={365} required defaultValue="7" />
      </Form>
      <ItemList of={shares} items="shares">
        {({ id, createdAt, expiresAt }) => (
          <li key={id} class="row">
            <span>
              made <Time at={createdAt} />, ends <Time at={expiresAt} />
            </span>
            <ActionButton danger work={() => api.deleteShare({ name, id })}>
              Revoke
            </ActionButton>
          </li>
        )}
      </ItemList>
    </section>
  )
}
