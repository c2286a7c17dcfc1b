import { useAddress } from '../../data/use-address.ts'
import { Select } from '../../ui/form.tsx'

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
