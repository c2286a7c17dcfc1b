import { lazy } from 'preact-iso'
import type { FunctionComponent } from 'preact'
import { api, isUnauthorized, useData } from '../api.ts'
import { useAction } from './form.tsx'
import { Page, Shown } from './page.tsx'
import { explainError } from './problem.tsx'

/** Components that few pages need, loaded on first use. */
export const Markdown = lazyComponent(() => import('./markdown.tsx'), NotLoaded)
export const Chart = lazyComponent(() => import('./chart.tsx'), NotLoaded)

/** The downloads of a skill by day, with a title for their total. */
export function DownloadChart({ name, toTitle }: { name: string; toTitle: (total: number) => string }) {
  const found = useData(['skill', name, 'downloads'], async () => {
    const { days, total } = await api.getDownloads({ name, days: 30 })
    const series = [
      { label: 'Downloads', values: days.map((day) => day.downloads) },
      { label: 'Of these, installs', values: days.map((day) => day.installs) },
    ]
    return { total, days: days.map(({ day }) => day), series }
  })
  return (
    <Shown of={found}>
      {({ total, days, series }) =>
        total === 0 ? (
          <p class="faint">None in the last 30 days.</p>
        ) : (
          <Chart days={days} series={series} label={toTitle(total)} />
        )
      }
    </Shown>
  )
}

/** A page that is loaded on first use. */
export function lazyPage(load: () => Promise<{ default: FunctionComponent }>) {
  return lazyComponent(load, PageNotLoaded)
}

/** A part of a page that is loaded on first use. */
export function lazyPart<Props extends object>(load: () => Promise<FunctionComponent<Props>>) {
  return lazyComponent(async () => ({ default: await load() }), NotLoaded)
}

/** A component that is loaded on first use, and an error message if loading failed. */
function lazyComponent<Props extends object>(
  load: () => Promise<{ default: FunctionComponent<Props> }>,
  Instead: FunctionComponent,
) {
  return lazy(() => load().catch(() => ({ default: Instead })))
}

function PageNotLoaded() {
  return (
    <Page title="This page could not be loaded">
      <NotLoaded />
    </Page>
  )
}

/** An error with a button that reloads the page: browsers may remember that a script failed to load until a reload. */
function NotLoaded() {
  const again = useAction(async () => {
    await api.getSession().catch((error: unknown) => {
      if (!isUnauthorized(error)) throw error
    })
    location.reload()
  })
  return (
    <div class="problem" role="alert">
      <strong>This part could not be loaded</strong>
      <p>The node is unavailable, or was updated. {again.error != null && `${explainError(again.error).advice} `}</p>
      <button type="button" onClick={() => again.run()}>
        Try again
      </button>
    </div>
  )
}
