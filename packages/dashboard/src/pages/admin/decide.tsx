import { useAction, Form, TextArea, Select } from '../../ui/form.tsx'

/** A form for deciding on a pending item, with a note. */
export function Decide<T extends string>(props: {
  /** The item, for screen reader users who do not see the row. */
  subject: string
  decisions: readonly (readonly [value: T, title: string])[]
  noteHint: string
  work: (decision: T, note: string) => Promise<unknown>
}) {
  const action = useAction(async ({ decision, note = '' }: Record<string, string>) => {
    await props.work(decision as T, note)
  })
  return (
    <details>
      <summary>
        Decide <span class="unseen">on {props.subject}</span>
      </summary>
      <Form action={action} submit="Decide">
        <Select label="Decision" name="decision" options={props.decisions} />
        <TextArea label="Note" name="note" rows={2} maxLength={4000} hint={props.noteHint} />
      </Form>
    </details>
  )
}
