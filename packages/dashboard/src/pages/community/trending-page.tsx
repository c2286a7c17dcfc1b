import '../../styles/trending.css'
import { TrendingDown, TrendingUp } from 'lucide'
import { api, useKeptData, useData } from '../../api.ts'
import { toAddress, useAddress } from '../../addresses.ts'
import { Icon } from '../../ui/icon.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Count, Empty, SecurityBadge, toCount, UserText } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ErrorBoundary } from 'preact-iso'
import { useState } from 'preact/hooks'
import { DownloadChart } from '../../ui/lazy-components.tsx'
import { Select } from '../../ui/form.tsx'

const periods = [
  { period: 'day', title: 'Day', span: '24 hours' },
  { period: 'week', title: 'Week', span: '7 days' },
  { period: 'month', title: 'Month', span: '30 days' },
] as const

/** The most installed skills of a period, compared with the previous period. */
export default function TrendingPage() {
  const { fields, change } = useAddress()
  const { period, span } = periods.find((known) => known.period === fields.period) ?? periods[1]
  const category = (fields.category ?? '').slice(0, 200)
  const wanted = { period, category: category || undefined, limit: 20 }
  const trending = useKeptData(['trending', wanted], () => api.getTrending(wanted))
  const tabs = periods.map((one) => ({
    href: toAddress('/trending', { category, period: one.period === 'week' ? undefined : one.period }),
    title: one.title,
    current: one.period === period,
  }))
  return (
    <Page title="Trending" hint={`The skills that were installed most in the last ${span}.`}>
      <Tabs label="Period" tabs={tabs} />
      <div class="filters">
        <CategorySelect value={category} onChange={(name) => change({ category: name })} />
      </div>
      <Shown of={trending}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty>
              <h2>No installs in the last {span}</h2>
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
            <ol class="trending" aria-busy={trending.isPlaceholderData}>
              {entries.map((entry) => (
                <TrendingSkill
                  key={entry.skill.id}
                  entry={entry}
                  span={span}
                  most={Math.max(...entries.map((one) => Math.max(one.installs, one.previousInstalls)))}
                />
              ))}
            </ol>
          )
        }
      </Shown>
    </Page>
  )
}

type Entry = Awaited<ReturnType<typeof api.getTrending>>['entries'][number]

/** One skill of the ranking. The lengths of its bars are relative to `most`, the maximum of all skills. */
function TrendingSkill({ entry, span, most }: { entry: Entry; span: string; most: number }) {
  const { rank, skill, installs, previousInstalls } = entry
  const [open, setOpen] = useState(false)
  return (
    <li>
      <span class="rank" aria-label={`Rank ${rank}`}>
        {rank}
      </span>
      <div>
        <h2>
          <SkillLink name={skill.fullName} />
        </h2>
        <UserText class="clamped">{skill.description}</UserText>
        <p class="bars">
          <span>Last {span}</span>
          <Bar kind="now" value={installs} most={most} />
          <strong>{toCount(installs, 'install')}</strong>
          <span>{span} before</span>
          <Bar kind="then" value={previousInstalls} most={most} />
          <span>{previousInstalls.toLocaleString('en')}</span>
        </p>
        <p class="facts">
          <SecurityBadge score={skill.securityScore} />
          <Growth {...entry} />
          <Count of={skill.downloads} unit="download" />
          <Count of={skill.stars} unit="star" />
        </p>
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Downloads by day</summary>
          {open && (
            <ErrorBoundary>
              <DownloadChart name={skill.fullName} toTitle={(total) => `${toCount(total, 'download')} in 30 days`} />
            </ErrorBoundary>
          )}
        </details>
      </div>
    </li>
  )
}

const Bar = ({ kind, value, most }: { kind: 'now' | 'then'; value: number; most: number }) => (
  <svg class={`bar ${kind}`} aria-hidden="true">
    <rect width={`${(100 * value) / Math.max(1, most)}%`} height="100%" rx="2" />
  </svg>
)

function Growth({ growth, previousInstalls }: Entry) {
  if (previousInstalls === 0) return <span class="good">new in this period</span>
  const percent = `${Math.abs(Math.round(growth * 100)).toLocaleString('en')} %`
  if (growth === 0) return <span>as many as before</span>
  return (
    <span class={growth > 0 ? 'good' : 'bad'}>
      <Icon of={growth > 0 ? TrendingUp : TrendingDown} />
      {percent} {growth > 0 ? 'more' : 'less'}
    </span>
  )
}

const categoriesMax = 50

/** The categories with the most skills and their counts, and the category in the address. */
function CategorySelect({ value, onChange }: { value: string; onChange: (category: string) => void }) {
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
