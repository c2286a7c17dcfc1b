import '../../styles/skill.css'
import '../../styles/docs.css'
import { useLocation } from 'preact-iso'
import { useAddress } from '../../addresses.ts'
import { useData, useKeptData } from '../../api.ts'
import { Field } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Empty } from '../../ui/parts.tsx'
import { GuidePage, toDocsPath } from './guide-page.tsx'
import { type Guide, loadList, queryCharactersMax, searchDocs } from './load-docs.ts'

/** The documentation: its guides and the API reference, with a list and a search of both. */
export default function DocsPages() {
  const { fields, change } = useAddress()
  const { path } = useLocation()
  const guides = useData(['docs'], () => loadList<Guide>('guides'))
  const q = (fields.q ?? '').slice(0, queryCharactersMax)
  const name = path.split('/').slice(2).join('/') || 'README'
  return (
    <div class="docs">
      <search>
        <Field
          label="Search the docs"
          type="search"
          autocomplete="off"
          maxLength={queryCharactersMax}
          value={q}
          onInput={(event) => change({ q: event.currentTarget.value }, true)}
        />
      </search>
      <nav aria-label="Documentation">
        {/* On a phone the list is closed, also after a guide was chosen from it: the open list would hide the text. */}
        <details key={name} open={matchMedia('(min-width: 60rem)').matches}>
          <summary>All guides</summary>
          {Object.entries(Object.groupBy(guides.data ?? [], ({ group }) => group)).map(([group, own = []]) => (
            <section key={group}>
              <h2>{group}</h2>
              {own.map((guide) => (
                <a
                  key={guide.name}
                  href={toDocsPath(guide.name)}
                  aria-current={name === guide.name ? 'page' : undefined}
                >
                  {guide.title}
                </a>
              ))}
            </section>
          ))}
        </details>
      </nav>
      <div>{q.trim() === '' ? <GuidePage key={name} name={name} /> : <Results q={q} />}</div>
    </div>
  )
}

const Results = ({ q }: { q: string }) => (
  <Page title="Search results">
    <Shown of={useKeptData(['docs', 'search', q], () => searchDocs(q))}>
      {(all) =>
        all.length === 0 ? (
          <Empty>No guide and no endpoint has these words. Use fewer or other ones.</Empty>
        ) : (
          <ul class="plain plain-links" aria-label="Results">
            {all.map(({ href, title, note }) => (
              <li key={href}>
                <a href={href}>{title}</a>
                <p class="faint">{note}</p>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  </Page>
)
