import { useAction, Form, TextArea, Select } from '../../ui/form.tsx'
import { api, refresh } from '../../data/api.ts'
import { useAddress } from '../../addresses.ts'

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

const decisions = [
  ['shown', 'Show it'],
  ['flagged', 'Flag: warn users who installed it'],
  ['hidden', 'Hide it'],
] as const

/** Flags a skill, hides it, or shows it again. */
export function ModerationDecision({ name }: { name: string }) {
  return (
    <Decide
      subject={name}
      decisions={decisions}
      noteHint="The reason, which the owner can read."
      work={async (state, reason) => {
        await api.moderateSkill({ name, state, reason })
        await Promise.all([refresh('moderated'), refresh('moderation'), refresh('skill'), refresh('own-skills')])
      }}
    />
  )
}

/** Selects the listed state; the selection is in the address. */
export function StatusFilter<T extends string>(props: { label: string; all: readonly T[]; value: T | '' }) {
  const { change } = useAddress()
  const options = [['', 'All'] as const, ...props.all.map((value) => [value, value.replaceAll('_', ' ')] as const)]
  return (
    <div class="filters">
      <Select
        label={props.label}
        name="status"
        value={props.value}
        options={options}
        onChange={(value) => change({ status: value || 'all', page: undefined })}
      />
    </div>
  )
}

/** The state in the address. Default: the first state that needs attention; none for `all`. */
export function useStatus<T extends string>(all: readonly T[], initial: T | ''): T | '' {
  const { status } = useAddress().fields
  if (status === 'all') return ''
  return all.find((value) => value === status) ?? initial
}
