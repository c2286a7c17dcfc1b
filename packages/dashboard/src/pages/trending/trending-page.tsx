import '../../styles/trending.css'
import { api } from '../../api.ts'
import { useKeptData } from '../../data/queries.ts'
import { toAddress, useAddress } from '../../data/use-address.ts'
import { CategorySelect } from '../../ui/category-select.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TrendingSkill } from './trending-skill.tsx'

const periods = [
  { period: 'day', title: 'Day', span: 'the last 24 hours', before: 'the 24 hours before' },
  { period: 'week', title: 'Week', span: 'the last 7 days', before: 'the 7 days before' },
  { period: 'month', title: 'Month', span: 'the last 30 days', before: 'the 30 days before' },
] as const

/** The most installed skills of a period, compared with the previous period. */
export default function TrendingPage() {
  const { fields, change } = useAddress()
  const { period, span, before } = periods.find((known) => known.period === fields.period) ?? periods[1]
  const category = (fields.category ?? '').slice(0, 200)
  const wanted = { period, category: category || undefined, limit: 20 }
  const trending = useKeptData(['trending', wanted], () => api.getTrending(wanted))
  const tabs = periods.map((one) => ({
    href: toAddress('/trending', { category, period: one.period === 'week' ? undefined : one.period }),
    title: one.title,
    current: one.period === period,
  }))
  return (
    <Page title="Trending">
      <Tabs label="Period" tabs={tabs} />
      <div class="filters">
        <CategorySelect value={category} onChange={(name) => change({ category: name })} />
      </div>
      <Shown of={trending}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty>
              <h2>No installs in {span}</h2>
              <p>
                Installs are counted here within a second. <a href="/">Find a skill to install</a>
                {period !== 'month' && (
                  <>
                    , or <a href={toAddress('/trending', { category, period: 'month' })}>see the last 30 days</a>
                  </>
                )}
                .
              </p>
            </Empty>
          ) : (
            <>
              <p class="legend">
                <span class="swatch now" /> Installs of {span} <span class="swatch then" /> Of {before}
              </p>
              <ol class="trending" aria-busy={trending.isPlaceholderData}>
                {entries.map((entry) => (
                  <TrendingSkill
                    key={entry.skill.id}
                    entry={entry}
                    most={Math.max(...entries.map((one) => Math.max(one.installs, one.previousInstalls)))}
                  />
                ))}
              </ol>
            </>
          )
        }
      </Shown>
    </Page>
  )
}
