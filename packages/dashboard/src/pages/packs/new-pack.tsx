import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh } from '../../data/queries.ts'
import { Field, Form, Select, TextArea, useAction } from '../../ui/form.tsx'
import { toMembers, visibilityOptions, type Visibility } from './members.ts'

/** Creates a pack; its skills are named one per line. */
export function NewPack() {
  const { route } = useLocation()
  const action = useAction(async (fields: Record<string, string>) => {
    const { slug } = await api.createPack({
      name: fields.name!,
      slug: fields.slug || undefined,
      description: fields.description ?? '',
      skills: toMembers(fields.skills ?? ''),
      visibility: fields.visibility as Visibility,
    })
    await refresh('packs')
    route(addresses.pack(slug))
  })
  return (
    <details class="card">
      <summary>Create a pack</summary>
      <Form action={action} submit="Create pack">
        <Field label="Name" name="name" required maxLength={100} />
        <Field label="Slug" name="slug" pattern="[a-z0-9\-]+" hint="Part of its URL. Empty: derived from the name." />
        <TextArea label="Description" name="description" maxLength={2000} />
        <TextArea
          label="Skills"
          name="skills"
          hint="One per line: owner/name, with @1.2.0 appended to pin a version."
          rows={6}
        />
        <Select label="Visibility" name="visibility" options={visibilityOptions} />
      </Form>
    </details>
  )
}
