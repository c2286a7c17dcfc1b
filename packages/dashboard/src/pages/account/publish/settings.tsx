import { Field, Form, Select, TextArea } from '../../../ui/form.tsx'

/** What the publisher may say that the package does not. */
export interface Wishes {
  readonly name?: string
  readonly version?: string
  readonly changelog?: string
  readonly visibility?: 'public' | 'internal' | 'private'
}

const visibilities = [
  ['', 'As it is, public where it is new'],
  ['public', 'Public: everybody'],
  ['internal', 'Internal: whoever has a key of this node'],
  ['private', 'Private: you, and whom you let in'],
] as const

/** Wishes for the publication; they take effect with the next look at what it would be. */
export function Settings({ busy, onChange }: { busy: boolean; onChange(wishes: Wishes): void }) {
  const change = (fields: Record<string, string>) => {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
    onChange(given as Wishes)
  }
  return (
    <details class="card">
      <summary>Version, changes, visibility</summary>
      <Form action={{ run: change, busy, done: false, error: null }} submit="Look again">
        <Field label="Name" name="name" hint="The one of the SKILL.md where it is empty." />
        <Field label="Version" name="version" pattern="\d+\.\d+\.\d+.*" hint="The next one where it is empty." />
        <TextArea label="What changed" name="changelog" maxLength={10000} />
        <Select label="Visibility" name="visibility" options={visibilities} />
      </Form>
    </details>
  )
}
