import { useLocation } from 'preact-iso'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { Field, Form, useAction } from '../../ui/form.tsx'
import { toShortName, type ShownSkill } from './shown-skill.ts'

/** Takes the latest version over into the user's own name, to go on from there. */
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
          label="Its name with you"
          name="newName"
          defaultValue={toShortName(skill)}
          maxLength={64}
          required
          hint={`Version ${skill.latestVersion} becomes ${me.username}/…, and says where it comes from.`}
        />
      </Form>
    </details>
  )
}
