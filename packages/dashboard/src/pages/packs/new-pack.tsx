import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { refresh } from '../../data/queries.ts'
import { Field, Form, Select, TextArea, useAction } from '../../ui/form.tsx'
import { toMembers, visibilityOptions, type Visibility } from './members.ts'

/** Makes a pack; its skills are named one a line. */
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
      <summary>Make a pack</summary>
      <Form action={action} submit="Make the pack">
        <Field label="Name" name="name" required maxLength={100} />
        <Field label="Slug" name="slug" pattern="[a-z0-9\-]+" hint="For its address; made from the name where empty." />
        <TextArea label="Description" name="description" maxLength={2000} />
        <TextArea
          label="Skills"
          name="skills"
          hint="One a line: owner/name, with @1.2.0 behind it to pin a version."
          rows={6}
        />
        <Select label="Visibility" name="visibility" options={visibilityOptions} />
      </Form>
    </details>
  )
}
