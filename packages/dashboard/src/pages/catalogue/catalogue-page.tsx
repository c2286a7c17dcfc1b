import '../../styles/catalogue.css'
import { api, useKeptData, useData } from '../../api.ts'
import { toAddress, useAddress } from '../../addresses.ts'
import { site } from '../../site.ts'
import { Page, Pager, Shown } from '../../ui/page.tsx'
import { Empty, toCount } from '../../ui/parts.tsx'
import { Select } from '../../ui/form.tsx'
import { SetupLink } from '../../ui/sign-in-link.tsx'
import { SkillList } from '../../ui/skill-list.tsx'
import { Chips, Filters } from './filters.tsx'
import { Home } from './home.tsx'
import { SearchBox } from './search-box.tsx'
import { searchFields, sorts, toSearch, withoutFilters, type Chip } from './search-address.ts'

/** The first page of the node; with search words or filters in the address, the skills that they find. */
export function CataloguePage() {
  const { fields, change } = useAddress()
  const isHome = searchFields.every((name) => !fields[name])
  return (
    <Page title={isHome ? 'Find a skill for your agent' : 'Skills'} class={isHome ? 'home' : undefined}>
      {isHome && site.text && (
        <p class="site-text" dir="auto">
          {site.text}
        </p>
      )}
      <SetupLink />
      <SearchBox q={fields.q ?? ''} search={(text) => change({ q: text, page: undefined }, true)} />
      {isHome ? <Home /> : <Results />}
    </Page>
  )
}

function Results() {
  const { fields, change } = useAddress()
  const { wanted, given, chips } = toSearch(fields)
  const q = wanted.q ?? ''
  const sort = wanted.sort ?? (q ? '' : 'downloads')
  const options = q ? [['', 'Best match'] as const, ...sorts] : sorts
  const sortBy = (chosen: string) => change({ sort: chosen, page: undefined })
  const found = useKeptData(['skills', wanted], () => api.searchSkills({ ...wanted, explain: q !== '', facets: true }))
  return (
    <div class="catalogue">
      <Filters given={given} facets={found.data?.facets} change={(some) => change({ ...some, page: undefined })} />
      <div class="found" aria-busy={found.isPlaceholderData}>
        <div class="found-head">
          <p id="found" role="status" tabIndex={-1}>
            {found.data?.estimated && 'About '}
            {found.data && toTotal(found.data.total, q)}
          </p>
          <Select label="Sort by" name="sort" value={sort} options={options} onChange={sortBy} />
        </div>
        <Chips chips={chips} fields={fields} />
        <Shown of={found}>
          {({ skills, total, page, totalPages, partial }) => (
            <>
              {partial && (
                <p class="faint">
                  Common words, or some of the skills with them, were left out to answer quickly: more specific words
                  find more.
                </p>
              )}
              {skills.length > 0 && <SkillList skills={skills} terms={q} />}
              {total === 0 && <NothingFound q={q} chips={chips} fields={fields} />}
              {total > 0 && skills.length === 0 && (
                <Empty>
                  There is no page {page.toLocaleString('en')}.{' '}
                  <a href={toAddress('/', { ...fields, page: undefined })}>Go to the first page</a>
                </Empty>
              )}
              {skills.length > 0 && <Pager totalPages={totalPages} />}
            </>
          )}
        </Shown>
      </div>
    </div>
  )
}

function toTotal(total: number, q: string): string {
  const skills = toCount(total, 'skill')
  if (!q) return skills
  return `${skills} ${total === 1 ? 'matches' : 'match'}`
}

/** A search without results: how to find more, and how to request a skill. */
function NothingFound(props: { q: string; chips: readonly Chip[]; fields: Readonly<Record<string, string>> }) {
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

/** A link that removes all filters, with the number of results without them. */
function Loosened({ q, fields }: { q: string; fields: Readonly<Record<string, string>> }) {
  const { data } = useData(['skills', 'loosened', q], () => api.searchSkills({ q, limit: 1 }))
  return (
    <li>
      <a href={toAddress('/', { ...fields, ...withoutFilters })}>Remove all filters</a>
      {data && ` to see ${toCount(data.total, 'skill')}`}
    </li>
  )
}
