import { api, useData } from '../api.ts'
import { Select } from './form.tsx'

const categoriesMax = 50

/** The categories with the most skills and their counts, and the category in the address. */
export function CategorySelect({ value, onChange }: { value: string; onChange: (category: string) => void }) {
  const { data } = useData(['categories'], () => api.listCategories())
  const top = (data?.categories ?? []).slice(0, categoriesMax)
  const options: [string, string][] = top.map(({ name, count }) => [name, `${name} (${count.toLocaleString('en')})`])
  if (value && !top.some(({ name }) => name === value)) options.unshift([value, value])
  return (
    <Select
      label="Category"
      name="category"
      value={value}
      options={[['', 'All categories'], ...options]}
      onChange={onChange}
    />
  )
}
