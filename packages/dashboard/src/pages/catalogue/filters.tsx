import { toAddress } from '../../addresses.ts'
import { CategorySelect } from '../../ui/category-select.tsx'
import { Check, Field, Select } from '../../ui/form.tsx'
import type { Chip } from './search-address.ts'

type Change = (fields: Record<string, string | undefined>) => void

const licences = ['Apache-2.0', 'BSD-3-Clause', 'CC-BY-4.0', 'GPL-3.0', 'MIT', 'MPL-2.0']
const scores = [
  ['', 'Any'],
  ['50', '50 or more'],
  ['80', '80 or more'],
  ['95', '95 or more'],
] as const
const deprecations = [
  ['', 'Shown'],
  ['false', 'Hidden'],
  ['true', 'Only these'],
] as const

/** The filters of the catalogue; collapsed on narrow screens. */
export function Filters({ given, change }: { given: Readonly<Record<string, string>>; change: Change }) {
  const isWide = matchMedia('(min-width: 48rem)').matches
  const score = given.minSecurityScore ?? ''
  return (
    <details class="catalogue-filters" open={isWide}>
      <summary>Filters</summary>
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        <CategorySelect value={given.category ?? ''} onChange={(category) => change({ category })} />
        <Select
          label="Security score"
          name="minSecurityScore"
          value={score}
          options={scores.some(([known]) => known === score) ? scores : [...scores, [score, `${score} or more`]]}
          onChange={(value) => change({ minSecurityScore: value })}
        />
        <Check
          checked={given.verified === 'true'}
          onChange={(event) => change({ verified: event.currentTarget.checked ? 'true' : undefined })}
        >
          Verified only
        </Check>
        <Check
          checked={given.includeStubs === 'true'}
          onChange={(event) => change({ includeStubs: event.currentTarget.checked ? 'true' : undefined })}
        >
          Include skills without content
        </Check>
        <Select
          label="Deprecated"
          name="deprecated"
          value={given.deprecated ?? ''}
          options={deprecations}
          onChange={(value) => change({ deprecated: value })}
        />
        <TextFilter label="Licence" name="license" given={given} change={change} list="licences" />
        <TextFilter label="Keyword" name="keyword" given={given} change={change} />
        <TextFilter label="Owner" name="owner" given={given} change={change} />
        <datalist id="licences">
          {licences.map((licence) => (
            <option key={licence} value={licence} />
          ))}
        </datalist>
      </form>
    </details>
  )
}

/** Applied on Enter, or when the field loses the focus. */
function TextFilter(props: {
  label: string
  name: string
  given: Readonly<Record<string, string>>
  change: Change
  list?: string
}) {
  const value = props.given[props.name] ?? ''
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
