import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Field, Form, useAction } from '../../ui/form.tsx'

/** For administrators: adds a skill of another registry to the index, and scans it. */
export function NewEntry() {
  const action = useAction(async ({ url = '' }: Record<string, string>) => {
    await api.addExternal({ url: url.trim() })
    await refresh('external')
  })
  return (
    <details class="card">
      <summary>Add a skill to this list</summary>
      <Form action={action} submit="Add and scan it" done="Added to the list.">
        <Field
          label="URL"
          name="url"
          required
          maxLength={2000}
          placeholder="https://github.com/owner/repository"
          hint="A URL as above, or a source such as owner/repo@skill. Adding it again scans it again."
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
    <ConfirmButton action="Remove" title={`Remove ${name} from the list?`} work={work}>
      <p>It returns when a user adds it again, or reports an install of it.</p>
    </ConfirmButton>
  )
}
