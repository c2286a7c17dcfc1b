import { api, useData } from '../../api.ts'
import { toAddress } from '../../addresses.ts'
import { Empty, toCount } from '../../ui/parts.tsx'
import { withoutFilters, type Chip } from './search-address.ts'

/** A search without results: how to find more, and how to request a skill. */
export function NothingFound(props: { q: string; chips: readonly Chip[]; fields: Readonly<Record<string, string>> }) {
  const { q, chips, fields } = props
  return (
    <Empty>
      <h2>
        {q ? (
          <>
            Nothing matches “<bdi>{q}</bdi>”{chips.length > 0 && ' with these filters'}
          </>
        ) : (
          'Nothing matches these filters'
        )}
      </h2>
      <ul>
        {chips.length > 0 && <Loosened q={q} fields={fields} />}
        {q && <li>Try fewer or more general words.</li>}
        {q && (
          <li>
            Missing it? <a href={toAddress('/requests', { new: q.slice(0, 200) })}>Ask for this skill</a>, so that
            others can vote for it and an author can write it.
          </li>
        )}
      </ul>
    </Empty>
  )
}

/** The number of results without the filters. */
function Loosened({ q, fields }: { q: string; fields: Readonly<Record<string, string>> }) {
  const { data } = useData(['skills', 'loosened', q], () => api.searchSkills({ q, limit: 1 }))
  return (
    <li>
      <a href={toAddress('/', { ...fields, ...withoutFilters })}>Remove all filters</a>
      {data && ` to see ${toCount(data.total, 'skill')}`}
    </li>
  )
}
