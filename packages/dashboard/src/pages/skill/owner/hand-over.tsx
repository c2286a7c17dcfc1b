import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { ActionButton, Field, Form, Select, useAction } from '../../../ui/form.tsx'
import { Shown } from '../../../ui/shown.tsx'

const roles = [
  ['read', 'may read it'],
  ['write', 'may publish it'],
] as const

/** The collaborators of a skill, and its transfer. */
export function HandOver({ name }: { name: string }) {
  const people = useData(['collaborators', name], () => api.listCollaborators({ name }))
  const add = useAction(async ({ username = '', role }: Record<string, string>) => {
    await api.putCollaborator({ name, username, role: role as 'read' | 'write' })
    await refresh('collaborators', name)
  })
  const transfer = useAction(async ({ newOwner = '' }: Record<string, string>) => {
    await api.transferSkill({ name, newOwner })
    await refresh('transfers')
  })
  return (
    <>
      <section>
        <h2>Collaborators</h2>
        <Shown of={people}>
          {({ collaborators }) => (
            <ul class="plain">
              {collaborators.map(({ username, role, status }) => (
                <li key={username} class="row">
                  <bdi>{username}</bdi>
                  <span class="faint">
                    {roles.find(([value]) => value === role)?.[1]}
                    {status === 'invited' && ', invited'}
                  </span>
                  <Leave name={name} username={username} />
                </li>
              ))}
            </ul>
          )}
        </Shown>
        <Form action={add} submit="Invite" done="Invited. The user sees the skill after accepting.">
          <Field label="User" name="username" required />
          <Select label="Who" name="role" options={roles} />
        </Form>
      </section>
      <section>
        <h2>Transfer</h2>
        <p class="hint">
          Open offers are listed with <a href="/account/skills">your skills</a>, where you can withdraw them.
        </p>
        <Form action={transfer} submit="Offer" done="Offered. The transfer happens when the new owner accepts.">
          <Field label="New owner" name="newOwner" required hint="The former address redirects to the new one." />
        </Form>
      </section>
    </>
  )
}

function Leave({ name, username }: { name: string; username: string }) {
  const action = useAction(async () => {
    await api.deleteCollaborator({ name, username })
    await refresh('collaborators', name)
  })
  return (
    <ActionButton action={action} danger>
      Remove {username}
    </ActionButton>
  )
}
