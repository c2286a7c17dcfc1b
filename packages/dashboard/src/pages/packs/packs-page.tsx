import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { toAddress, useAddress } from '../../data/use-address.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Empty, Time, toCount } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Budget } from './budget.tsx'
import { NewPack } from './new-pack.tsx'

/** Packs: collections of skills for one purpose. */
export default function PacksPage() {
  const { fields, change } = useAddress()
  const me = useMe()
  const wanted = { q: fields.q ?? '', curator: fields.curator || undefined, page: toPageNumber(fields.page), limit: 20 }
  const found = useData(['packs', wanted], () => api.listPacks(wanted))
  return (
    <Page title="Packs">
      <p class="faint">Collections of skills for one purpose, which are installed together.</p>
      <SearchField label="Search packs" value={wanted.q} onChange={(q) => change({ q, page: undefined }, true)} />
      {wanted.curator && (
        <p class="facts">
          <span>
            Of <bdi>{wanted.curator}</bdi> only.
          </span>
          <a href={toAddress('/packs', { q: wanted.q })}>Show all packs</a>
        </p>
      )}
      <Shown of={found}>
        {({ packs, total, page, totalPages }) => (
          <>
            {packs.length === 0 && <NoPacks query={wanted.q} curator={wanted.curator} />}
            <ul class="plain" aria-label={toCount(total, 'pack')}>
              {packs.map((pack) => (
                <li key={pack.slug}>
                  <h2>
                    <a href={addresses.pack(pack.slug)}>
                      <bdi>{pack.name}</bdi>
                    </a>
                  </h2>
                  <p dir="auto">{pack.description}</p>
                  <p class="facts">
                    <span>{toCount(pack.skillCount, 'skill')}</span>
                    <Budget of={pack.budget} />
                    <a href={addresses.user(pack.curator.username)}>{pack.curator.username}</a>
                    <Time at={pack.updatedAt} />
                  </p>
                </li>
              ))}
            </ul>
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
      {me && <NewPack />}
    </Page>
  )
}

function NoPacks({ query, curator }: { query: string; curator?: string }) {
  return (
    <Empty>
      {query ? (
        <p>
          No pack matches <q>{query}</q>. Try fewer words.
        </p>
      ) : (
        <p>
          {curator ? (
            <>
              <bdi>{curator}</bdi> has no packs that you can see.
            </>
          ) : (
            'There are no packs yet. Sign in to create the first.'
          )}
        </p>
      )}
    </Empty>
  )
}
