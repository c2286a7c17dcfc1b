import { useLocation } from 'preact-iso'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { Field, Form, useAction } from '../../ui/form.tsx'
import { toShortName, type ShownSkill } from './shown-skill.ts'

/** Forks the latest version to the user's account. */
export function ForkForm({ shown: { skill, name } }: { shown: ShownSkill }) {
  const me = useMe()
  const { route } = useLocation()
  const action = useAction(async ({ newName = '' }: Record<string, string>) => {
    const fork = await api.forkSkill({ name, newName: newName.trim() || undefined })
    await Promise.all([refresh('skill', name), refresh('skills'), refresh('own-skills')])
    route(addresses.skill(fork.fullName))
  })
  if (!me || !skill.latestVersion || skill.stub) return null
  return (
    <details class="card">
      <summary>Fork this skill</summary>
      <Form action={action} submit="Fork it">
        <Field
          label="Name of your fork"
          name="newName"
          defaultValue={toShortName(skill)}
          maxLength={64}
          required
          hint={`Version ${skill.latestVersion} is copied to ${me.username}/…, with a link to its origin.`}
        />
      </Form>
    </details>
  )
}
