import type { UseQueryResult } from '@tanstack/preact-query'
import { RefreshCw } from 'lucide'
import { useAction, Form, TextArea, Select, unlessBusy, type Fields } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { api } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { usePaged } from '../../ui/page.tsx'
import { toWords } from '../../ui/parts.tsx'

/** A form for deciding on a pending item, with a note. */
export function Decide<T extends string>(props: {
  /** The item, for screen reader users who do not see the row. */
  subject: string
  decisions: readonly (readonly [value: T, title: string])[]
  noteHint: string
  work: (decision: T, note: string) => Promise<unknown>
}) {
  const action = useAction(({ decision, note = '' }: Fields) => props.work(decision as T, note))
  return (
    <details>
      <summary>
        Decide <span class="unseen">on {props.subject}</span>
      </summary>
      <Form action={action} submit="Decide">
        <Select label="Decision" name="decision" options={props.decisions} />
        <TextArea label="Note" name="note" rows={2} maxLength={4000}>
          {props.noteHint}
        </TextArea>
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
      work={(state, reason) => api.moderateSkill({ name, state, reason })}
    />
  )
}

/** Reloads the data of the page. */
export function RefreshButton({ of }: { of: Pick<UseQueryResult, 'refetch' | 'isFetching'> }) {
  return (
    <button type="button" {...unlessBusy({ busy: of.isFetching, run: () => void of.refetch() })}>
      <Icon of={RefreshCw} /> Refresh
    </button>
  )
}

/**
 * The items in the state that the address names, in pages, and a filter that selects the state. Default: the initial
 * state; `''` means all states.
 */
export function useItemsByStatus<T extends string, Data>(
  key: readonly unknown[],
  all: readonly T[],
  initial: T | '',
  load: (status: T | undefined, page: number) => Promise<Data>,
) {
  const { fields, change } = useAddress()
  const status = fields.status === 'all' ? '' : (all.find((value) => value === fields.status) ?? initial)
  const found = usePaged([...key, status], (page) => load(status || undefined, page))
  const filter = (
    <div class="filters">
      <Select
        label="State"
        name="status"
        value={status}
        options={[['', 'All'], ...all.map((value) => [value, toWords(value)] as const)]}
        onChange={(value) => change({ status: value || 'all', page: undefined })}
      />
    </div>
  )
  return { found, filter }
}
