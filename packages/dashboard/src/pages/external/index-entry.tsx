import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Field, Form, useAction } from '../../ui/form.tsx'

/** For administrators: has the node know of a skill elsewhere, and scan it. */
export function NewEntry() {
  const action = useAction(async ({ url = '' }: Record<string, string>) => {
    await api.addExternal({ url: url.trim() })
    await refresh('external')
  })
  return (
    <details class="card">
      <summary>Add a skill to this list</summary>
      <Form action={action} submit="Add and scan it" done="It is in the list.">
        <Field
          label="Where it is"
          name="url"
          required
          maxLength={2000}
          placeholder="https://github.com/owner/repository"
          hint="As above, or a source such as owner/repo@skill. Added once more, it is scanned again."
        />
      </Form>
    </details>
  )
}

export function RemoveEntry({ id, name }: { id: string; name: string }) {
  const work = async () => {
    await api.deleteExternal({ id })
    await refresh('external')
  }
  return (
    <ConfirmButton action="Take out" title={`Take ${name} out of the list?`} work={work}>
      <p>It comes back when somebody adds it, or reports an install of it.</p>
    </ConfirmButton>
  )
}
