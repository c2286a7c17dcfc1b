import type { UseQueryResult } from '@tanstack/preact-query'
import { RefreshCw } from 'lucide'
import { Form, TextArea, Select, choice, unlessBusy } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { api } from '../../api.ts'
import { useFilter } from '../../ui/address-choice.tsx'
import { usePaged } from '../../ui/page.tsx'
import { toWords } from '../../ui/parts.tsx'

/** A form for deciding on a pending item, with a note. */
export const Decide = <T extends string>(props: {
  /** The item, for screen reader users who do not see the row. */
  subject: string
  decisions: readonly (readonly [value: T, title: string])[]
  noteHint: string
  work: (decision: T, note: string) => Promise<unknown>
}) => (
  <details>
    <summary>
      Decide <span class="unseen">on {props.subject}</span>
    </summary>
    <Form work={({ decision, note = '' }) => props.work(choice(props.decisions, decision), note)} submit="Decide">
      <Select label="Decision" name="decision" options={props.decisions} />
      <TextArea label="Note" name="note" rows={2} maxLength={4000} hint={props.noteHint} />
    </Form>
  </details>
)

const decisions = [
  ['shown', 'Show it'],
  ['flagged', 'Flag: warn users who installed it'],
  ['hidden', 'Hide it'],
] as const

/** Flags a skill, hides it, or shows it again. */
export const ModerationDecision = ({ name }: { name: string }) => (
  <Decide
    subject={name}
    decisions={decisions}
    noteHint="The reason, which the owner can read."
    work={(state, reason) => api.moderateSkill({ name, state, reason })}
  />
)

/** Reloads the data of the page. */
export const RefreshButton = ({ of }: { of: Pick<UseQueryResult, 'refetch' | 'isFetching'> }) => (
  <button type="button" {...unlessBusy({ busy: of.isFetching, run: () => void of.refetch() })}>
    <Icon of={RefreshCw} /> Refresh
  </button>
)

/**
 * The items in the state that the address names, in pages, and a filter that selects the state. Default: the state
 * `initial`.
 */
export function useItemsByStatus<T extends string, Data>(
  key: readonly unknown[],
  all: readonly T[],
  initial: T | 'all',
  load: (of: { status: T | undefined; page: number }) => Promise<Data>,
) {
  const options = [['all', 'All'], ...all.map((value) => [value, toWords(value)] as const)] as const
  const [status, select] = useFilter<T | 'all'>('State', 'status', options, initial)
  const found = usePaged([...key, status], (page) => load({ status: status === 'all' ? undefined : status, page }))
  return { found, filter: <div class="filters">{select}</div> }
}
