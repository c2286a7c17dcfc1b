import { lazy } from 'preact-iso'
import type { FunctionComponent } from 'preact'
import { api, isUnauthorized } from '../api.ts'
import { useAction } from './form.tsx'
import { Page } from './page.tsx'
import { explainError } from './problem.tsx'

/** Components that few pages need, loaded on first use. */
export const Markdown = lazyComponent(() => import('./markdown.tsx'), NotLoaded)
export const Chart = lazyComponent(() => import('./chart.tsx'), NotLoaded)

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

/** Browsers may remember that a script failed to load; only a reload fetches it again, once the node is available. */
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
