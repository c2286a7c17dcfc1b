import { useLocation } from 'preact-iso'
import { toAddress } from '../addresses.ts'
import { Select } from './form.tsx'
import { Tabs } from './tabs.tsx'

type Options<T extends string> = readonly (readonly [value: T, title: string, ...unknown[]])[]

/** The option that a field of the address names, and a function from an option to its address. */
function useChoice<T extends string>(field: string, options: Options<T>, initial: T) {
  const { path, query } = useLocation()
  const current = options.find(([value]) => value === query[field])?.[0] ?? initial
  const toHref = (value: string) =>
    toAddress(path, { ...query, page: undefined, [field]: value === initial ? undefined : value })
  return { current, toHref }
}

/** The option that a field of the address names, and tabs that choose it. Default: the first option. */
export function useTabs<T extends string>(label: string, field: string, options: Options<T>, initial = options[0]![0]) {
  const { current, toHref } = useChoice(field, options, initial)
  const tabs = options.map(([value, title]) => ({ href: toHref(value), title, current: value === current }))
  return [current, <Tabs label={label} tabs={tabs} />] as const
}

/** The option that a field of the address names, and a select field that chooses it. Default: the first option. */
export function useFilter<T extends string>(
  label: string,
  field: string,
  options: readonly (readonly [value: T, title: string])[],
  initial = options[0]![0],
) {
  const { route } = useLocation()
  const { current, toHref } = useChoice(field, options, initial)
  const choose = (value: string) => route(toHref(value))
  return [current, <Select label={label} name={field} value={current} options={options} onChange={choose} />] as const
}
