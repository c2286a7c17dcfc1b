import { Field, Form, Select, TextArea } from '../../../ui/form.tsx'

/** Settings of a publication that are not in the package. */
export interface Wishes {
  readonly name?: string
  readonly version?: string
  readonly changelog?: string
  readonly visibility?: 'public' | 'internal' | 'private'
}

const visibilities = [
  ['', 'Unchanged; public for a new skill'],
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: you and your collaborators'],
] as const

/** Settings of the publication; they apply to the next preview. */
export function Settings({ busy, onChange }: { busy: boolean; onChange(wishes: Wishes): void }) {
  const change = (fields: Record<string, string>) => {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
    onChange(given as Wishes)
  }
  return (
    <details class="card">
      <summary>Version, changes, visibility</summary>
      <Form action={{ run: change, busy, done: false, error: null }} submit="Check again">
        <Field label="Name" name="name" hint="Empty: the name in SKILL.md." />
        <Field label="Version" name="version" pattern="\d+\.\d+\.\d+.*" hint="Empty: the next patch version." />
        <TextArea label="What changed" name="changelog" maxLength={10000} />
        <Select label="Visibility" name="visibility" options={visibilities} />
      </Form>
    </details>
  )
}
