import '../../styles/trending.css'
import { TrendingDown, TrendingUp } from 'lucide'
import { api, useKeptData, useData } from '../../api.ts'
import { toAddress, useAddress } from '../../addresses.ts'
import { Icon } from '../../ui/icon.tsx'
import { Items, Page } from '../../ui/page.tsx'
import { Count, SecurityBadge, toCount, UserText } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { useFilter, useTabs } from '../../ui/address-choice.tsx'
import { ErrorBoundary } from 'preact-iso'
import { useState } from 'preact/hooks'
import { DownloadChart } from '../../ui/lazy-components.tsx'

const periods = [
  ['day', 'Day', '24 hours'],
  ['week', 'Week', '7 days'],
  ['month', 'Month', '30 days'],
] as const

/** The most installed skills of a period, compared with the previous period. */
export default function TrendingPage() {
  const [period, tabs] = useTabs('Period', 'period', periods, 'week')
  const span = periods.find(([known]) => known === period)![2]
  const [category, filter] = useCategoryFilter()
  const wanted = { period, category: category || undefined, limit: 20 }
  const trending = useKeptData(['trending', wanted], () => api.getTrending(wanted))
  const empty = (
    <>
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
    </>
  )
  return (
    <Page title="Trending" hint={`The skills that were installed most in the last ${span}.`}>
      {tabs}
      <div class="filters">{filter}</div>
      <Items of={trending} items="entries" empty={empty}>
        {(entries) => (
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
        )}
      </Items>
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

const Growth = ({ growth, previousInstalls }: Entry) =>
  previousInstalls === 0 ? (
    <span class="good">new in this period</span>
  ) : growth === 0 ? (
    <span>as many as before</span>
  ) : (
    <span class={growth > 0 ? 'good' : 'bad'}>
      <Icon of={growth > 0 ? TrendingUp : TrendingDown} />
      {Math.abs(Math.round(growth * 100)).toLocaleString('en')} % {growth > 0 ? 'more' : 'less'}
    </span>
  )

const categoriesMax = 50

/** A filter by category: the largest categories with their counts, and the category in the address. */
function useCategoryFilter() {
  const { data } = useData(['categories'], () => api.listCategories())
  const named = (useAddress().fields.category ?? '').slice(0, 200)
  const top = (data?.categories ?? []).slice(0, categoriesMax)
  const options = top.map(({ name, count }) => [name, `${name} (${count.toLocaleString('en')})`] as const)
  const isTop = !named || top.some(({ name }) => name === named)
  return useFilter('Category', 'category', [
    ['', 'All categories'],
    ...(isTop ? [] : [[named, named] as const]),
    ...options,
  ])
}
