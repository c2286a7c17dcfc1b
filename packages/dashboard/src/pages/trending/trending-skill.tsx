import { ErrorBoundary } from 'preact-iso'
import { useMemo, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useData } from '../../data/queries.ts'
import { Chart } from '../../ui/late.tsx'
import { SecurityBadge, toCount } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'

type Entry = Awaited<ReturnType<typeof api.getTrending>>['entries'][number]

/** One skill of the ranking; the length of its bars is relative to `most`, the maximum of all. */
export function TrendingSkill({ entry, most }: { entry: Entry; most: number }) {
  const { rank, skill, installs, previousInstalls } = entry
  const [open, setOpen] = useState(false)
  return (
    <li>
      <span class="rank" aria-label={`Rank ${rank}`}>
        {rank}
      </span>
      <div>
        <h2>
          <a href={addresses.skill(skill.fullName)}>
            <bdi>{skill.fullName}</bdi>
          </a>
        </h2>
        <p class="clamped" dir="auto">
          {skill.description}
        </p>
        <Bar kind="now" value={installs} most={most} />
        <Bar kind="then" value={previousInstalls} most={most} />
        <p class="facts">
          <strong>{toCount(installs, 'install')}</strong>
          <span>{previousInstalls.toLocaleString('en')} before</span>
          <Growth {...entry} />
          <span>{toCount(skill.downloads, 'download')} in all</span>
          <SecurityBadge score={skill.securityScore} />
        </p>
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Downloads by day</summary>
          {open && <DownloadsByDay name={skill.fullName} />}
        </details>
      </div>
    </li>
  )
}

function Bar({ kind, value, most }: { kind: 'now' | 'then'; value: number; most: number }) {
  return (
    <svg class={`bar ${kind}`} aria-hidden="true">
      <rect width={`${(100 * value) / Math.max(1, most)}%`} height="100%" rx="2" />
    </svg>
  )
}

function Growth({ growth, previousInstalls }: Entry) {
  if (previousInstalls === 0) return <span class="good">▲ new</span>
  const percent = `${Math.abs(Math.round(growth * 100)).toLocaleString('en')} %`
  if (growth === 0) return <span>as before</span>
  return growth > 0 ? <span class="good">▲ {percent} more</span> : <span class="bad">▼ {percent} less</span>
}

function DownloadsByDay({ name }: { name: string }) {
  const downloads = useData(['downloads', name, 30], () => api.getDownloads({ name, days: 30 }))
  const { data } = downloads
  const days = useMemo(() => data?.days.map(({ day }) => day) ?? [], [data])
  const series = useMemo(
    () => [
      { label: 'Downloads', values: data?.days.map((day) => day.downloads) ?? [] },
      { label: 'Of these, installs', values: data?.days.map((day) => day.installs) ?? [] },
    ],
    [data],
  )
  return (
    <Shown of={downloads}>
      {({ total }) => (
        <ErrorBoundary>
          <Chart days={days} series={series} label={`${toCount(total, 'download')} in 30 days`} />
        </ErrorBoundary>
      )}
    </Shown>
  )
}
