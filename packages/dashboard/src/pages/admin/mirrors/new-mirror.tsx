import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { refresh } from '../../../data/queries.ts'
import { Field, Form, Select, TextArea, useAction } from '../../../ui/form.tsx'
import { Notice } from '../../../ui/parts.tsx'

const kinds = [
  ['', 'Find it out'],
  ['node', 'A Skillstead node'],
  ['registry', 'A registry that speaks the specification'],
  ['discovery', 'A discovery index'],
  ['git', 'A git repository'],
] as const
const modes = [
  ['full', 'Everything'],
  ['selected', 'What is named below'],
  ['pull-through', 'What somebody asks for'],
] as const

type Kind = Exclude<(typeof kinds)[number][0], ''>
type Mode = (typeof modes)[number][0]

/** Follows another registry. */
export function NewMirror() {
  const [problem, setProblem] = useState<string | null>(null)
  const action = useAction(async (fields: Record<string, string>) => {
    const made = await api.addMirror({
      name: fields.name!,
      url: fields.url!,
      kind: (fields.kind || undefined) as Kind | undefined,
      mode: fields.mode as Mode,
      selected: fields.mode === 'selected' ? fields.selected?.split(/\s+/).filter(Boolean) : undefined,
      everySeconds: Number(fields.minutes) * 60,
      key: fields.key || undefined,
      apiKey: fields.apiKey || undefined,
    })
    setProblem(made.problem)
    await refresh('mirrors')
  })
  return (
    <details class="card">
      <summary>Follow a registry</summary>
      <Form action={action} submit="Follow" done="It is followed.">
        <Field label="Name" name="name" required pattern="[a-z0-9\-]+" hint="What you call it here." />
        <Field label="Address" name="url" type="url" required />
        <Select label="What it is" name="kind" options={kinds} />
        <Select label="What comes in" name="mode" options={modes} />
        <TextArea label="Names" name="selected" rows={2} hint="One a line, * for any run of characters: owner/*." />
        <Field label="Synced every so many minutes" name="minutes" type="number" min={0} defaultValue="60" required />
        <Field label="Public key of its log" name="key" hint="No other is believed. Taken on first use where empty." />
        <Field
          label="Your API key there"
          name="apiKey"
          type="password"
          autocomplete="off"
          hint="For your private skills; kept encrypted."
        />
      </Form>
      {problem !== null && <Notice tone="fair">Its address could not be reached: {problem}</Notice>}
    </details>
  )
}
