import { type SearchFacets, isOneOf, keysOf, searchControls } from '@skillstead/protocol'
import { toAddress, useAddress } from '../../addresses.ts'
import { Check, Field, Select } from '../../ui/form.tsx'
import type { Chip } from './search-address.ts'

type Change = (fields: Record<string, string | undefined>) => void
type Filter = (typeof searchControls)[number]

interface FilterProps {
  readonly facets: SearchFacets | undefined
  readonly change: Change
}

/** The filters of the catalogue with the numbers of skills that each leaves; collapsed on narrow screens. */
export function Filters({ given, ...props }: FilterProps & { given: Readonly<Record<string, string>> }) {
  const isWide = matchMedia('(min-width: 48rem)').matches
  return (
    <details class="catalogue-filters" open={isWide}>
      <summary>Filters</summary>
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        {searchControls.map((filter) => (
          <Control key={filter.name} filter={filter} value={given[filter.name] ?? ''} {...props} />
        ))}
      </form>
    </details>
  )
}

/** The control of one filter. */
function Control({ filter, value, facets, change }: FilterProps & { filter: Filter; value: string }) {
  const { name, label, kind, options } = filter
  if (options) {
    const isOffered = options.some(([offered]) => offered === value)
    const counts = new Map(toFacet(facets, name).map((one) => [one.value, one.count]))
    const withCounts = options.map(([offered, text]) => {
      const count = counts.get(offered)
      return [offered, count === undefined ? text : `${text} (${count.toLocaleString('en')})`] as const
    })
    return (
      <Select
        label={label}
        name={name}
        value={value}
        options={isOffered ? withCounts : [...withCounts, [value, `${value} or more`]]}
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
  return <TextFilter label={label} name={name} value={value} change={change} facets={facets} />
}

const toFacet = (facets: SearchFacets | undefined, name: string): SearchFacets['category'] =>
  (facets && isOneOf(keysOf(facets), name) && facets[name]) || []

const shownValuesMax = 6

/** The most frequent values as links, and a field for any other, applied on Enter or when the field loses the focus. */
function TextFilter(props: FilterProps & { label: string; name: string; value: string }) {
  const { label, name, value, change } = props
  const { fields } = useAddress()
  const values = toFacet(props.facets, name)
  return (
    <fieldset class="facet">
      <legend>{label}</legend>
      <ul class="plain-links">
        {values.slice(0, shownValuesMax).map((one) => {
          const isGiven = one.value === value.toLowerCase()
          const href = toAddress('/', { ...fields, page: undefined, [name]: isGiven ? undefined : one.value })
          return (
            <li key={one.value}>
              <a href={href} aria-current={isGiven ? 'true' : undefined}>
                <bdi>{one.value}</bdi> <span class="faint">{one.count.toLocaleString('en')}</span>
              </a>
            </li>
          )
        })}
      </ul>
      {(values.length === 0 || values.length > shownValuesMax) && (
        <Field
          key={value}
          label={`Other ${label.toLowerCase()}`}
          name={name}
          list={`values-${name}`}
          dir="auto"
          maxLength={200}
          autocomplete="off"
          defaultValue={value}
          onChange={(event) => change({ [name]: event.currentTarget.value.trim() })}
        />
      )}
      <datalist id={`values-${name}`}>
        {values.map((one) => (
          <option key={one.value} value={one.value} />
        ))}
      </datalist>
    </fieldset>
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
