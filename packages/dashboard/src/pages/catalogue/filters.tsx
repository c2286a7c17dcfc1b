import { searchControls } from '@skillstead/protocol'
import { toAddress } from '../../addresses.ts'
import { CategorySelect } from '../../ui/category-select.tsx'
import { Check, Field, Select } from '../../ui/form.tsx'
import type { Chip } from './search-address.ts'

type Change = (fields: Record<string, string | undefined>) => void

const licences = ['Apache-2.0', 'BSD-3-Clause', 'CC-BY-4.0', 'GPL-3.0', 'MIT', 'MPL-2.0']

/** The filters of the catalogue; collapsed on narrow screens. */
export function Filters({ given, change }: { given: Readonly<Record<string, string>>; change: Change }) {
  const isWide = matchMedia('(min-width: 48rem)').matches
  return (
    <details class="catalogue-filters" open={isWide}>
      <summary>Filters</summary>
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        {searchControls.map((filter) => (
          <Control key={filter.name} filter={filter} value={given[filter.name] ?? ''} change={change} />
        ))}
        <datalist id="licences">
          {licences.map((licence) => (
            <option key={licence} value={licence} />
          ))}
        </datalist>
      </form>
    </details>
  )
}

/** The control of one filter. */
function Control({
  filter,
  value,
  change,
}: {
  filter: (typeof searchControls)[number]
  value: string
  change: Change
}) {
  const { name, label, kind, options } = filter
  if (name === 'category') return <CategorySelect value={value} onChange={(category) => change({ category })} />
  if (options) {
    const isOffered = options.some(([offered]) => offered === value)
    return (
      <Select
        label={label}
        name={name}
        value={value}
        options={isOffered ? options : [...options, [value, `${value} or more`]]}
        onChange={(chosen) => change({ [name]: chosen })}
      />
    )
  }
  if (kind !== 'text')
    return (
      <Check
        checked={value === 'true'}
        onChange={(event) => change({ [name]: event.currentTarget.checked ? 'true' : undefined })}
      >
        {label}
      </Check>
    )
  return (
    <TextFilter
      label={label}
      name={name}
      value={value}
      change={change}
      list={name === 'license' ? 'licences' : undefined}
    />
  )
}

/** Applied on Enter, or when the field loses the focus. */
function TextFilter(props: { label: string; name: string; value: string; change: Change; list: string | undefined }) {
  const { value } = props
  return (
    <Field
      key={value}
      label={props.label}
      name={props.name}
      list={props.list}
      dir="auto"
      maxLength={200}
      autocomplete="off"
      defaultValue={value}
      onChange={(event) => props.change({ [props.name]: event.currentTarget.value.trim() })}
    />
  )
}

/** The active filters, each with a button that removes it. */
export function Chips({ chips, fields }: { chips: readonly Chip[]; fields: Readonly<Record<string, string>> }) {
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label="Active filters">
      {chips.map(({ name, text }) => (
        <li key={name}>
          <a
            href={toAddress('/', { ...fields, page: undefined, [name]: undefined })}
            aria-label={`Remove filter ${text}`}
            // Move the focus, because the focused button disappears.
            onClick={() => document.querySelector<HTMLElement>('#found')?.focus()}
          >
            <bdi>{text}</bdi> <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
    </ul>
  )
}
