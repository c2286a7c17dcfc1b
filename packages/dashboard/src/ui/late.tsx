import { lazy } from 'preact-iso'
import type { FunctionComponent } from 'preact'
import { api } from '../api.ts'
import { isUnauthorized } from '../data/queries.ts'
import { useAction } from './form.tsx'
import { Page } from './page.tsx'
import { explain } from './problem.tsx'

/** Parts that most pages do without, fetched when the first page shows one. */
export const Markdown = late(() => import('./markdown.tsx'), NotLoaded)
export const Chart = late(() => import('./chart.tsx'), NotLoaded)

/** A page that is fetched when it is first shown. */
export function latePage(load: () => Promise<{ default: FunctionComponent }>) {
  return late(load, PageNotLoaded)
}

/** What is fetched when it is first shown, and what stands in its place where the node did not send it. */
function late<Props>(load: () => Promise<{ default: FunctionComponent<Props> }>, Instead: FunctionComponent) {
  return lazy(() => load().catch(() => ({ default: Instead as FunctionComponent<Props> })))
}

function PageNotLoaded() {
  return (
    <Page title="This page did not arrive">
      <NotLoaded />
    </Page>
  )
}

/** Browsers may remember that a script failed; only a reload asks again, and that is of use once the node is back. */
function NotLoaded() {
  const again = useAction(async () => {
    await api.getSession().catch((error: unknown) => {
      if (!isUnauthorized(error)) throw error
    })
    location.reload()
  })
  return (
    <div class="problem" role="alert">
      <strong>The node did not send this part</strong>
      <p>It is away, or was replaced by another version. {again.error != null && `${explain(again.error).advice} `}</p>
      <button type="button" onClick={() => again.run()}>
        Try again
      </button>
    </div>
  )
}
