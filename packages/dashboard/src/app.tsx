import { reservedOwners } from '@skillstead/protocol'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import { addresses, nodePath } from './addresses.ts'
import { Boundary } from './boundary.tsx'
import { useIsClosed } from './session.ts'
import { Header } from './frame.tsx'
import { isSharedPath } from './share-link.ts'
import { CataloguePage } from './pages/catalogue/catalogue-page.tsx'
import { ClosedNode, EndedLink, NotHere } from './pages/placeholder-pages.tsx'
import { BelowNode } from './below-node.tsx'
import { lazyPage } from './ui/lazy-components.tsx'

/** The pages that are loaded on first use, by their paths. */
const lazyPages = [
  [['/skills/:owner/:name/:tab?'], lazyPage(() => import('./pages/skill/skill-page.tsx'))],
  [['/packs', '/packs/:slug'], lazyPage(() => import('./pages/community/packs-pages.tsx'))],
  [['/trending'], lazyPage(() => import('./pages/community/trending-page.tsx'))],
  [['/agents', '/agents/:agentKey'], lazyPage(() => import('./pages/community/agents-pages.tsx'))],
  [['/users'], lazyPage(() => import('./pages/users/users-page.tsx'))],
  [['/users/:username'], lazyPage(() => import('./pages/users/user-page.tsx'))],
  [['/requests'], lazyPage(() => import('./pages/community/requests-page.tsx'))],
  [['/external'], lazyPage(() => import('./pages/community/external-page.tsx'))],
  [['/takedowns'], lazyPage(() => import('./pages/takedowns/takedowns-page.tsx'))],
  [['/takedowns/:id'], lazyPage(() => import('./pages/takedowns/takedown-page.tsx'))],
  [['/account', '/account/*'], lazyPage(() => import('./pages/account/account-pages.tsx'))],
  [['/organisations/:name/:section?'], lazyPage(() => import('./pages/organisations/organisation-page.tsx'))],
  [['/docs', '/docs/*'], lazyPage(() => import('./pages/docs/docs-pages.tsx'))],
  [['/device'], lazyPage(() => import('./pages/account/device-page.tsx'))],
  [['/_components'], lazyPage(() => import('./pages/components-page.tsx'))],
  [['/admin', '/admin/*'], lazyPage(() => import('./pages/admin/admin-pages.tsx'))],
] as const

/** Matches the addresses of this app. The node serves the other addresses itself, and links to them leave the app. */
const ownPages = new RegExp(`^${nodePath}/(?!(?:api|docs/guides|openapi\\.json|metrics|healthz|readyz|mcp)(?:[/?#]|$))`)

export const App = () => (
  <LocationProvider scope={ownPages}>
    <BelowNode>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Pages />
      </main>
      <footer class="bottom">
        <a href="/docs">Documentation</a>
        <a href="/openapi.json">OpenAPI</a>
        <a href="/takedowns">Takedowns</a>
      </footer>
    </BelowNode>
  </LocationProvider>
)

/** The pages for signing in. Visitors of a private node see only these and the documentation. */
const entrances = new Set(['/account/sign-in', '/account/setup'])

function Pages() {
  const { url, path } = useLocation()
  const isClosed = useIsClosed()
  if (!isDecodablePath(path)) return <NotHere />
  // A share link that works was replaced by the address of its skill, so this link has ended.
  if (path.startsWith('/t/')) return <EndedLink />
  if (isClosed && !entrances.has(path) && !isSharedPath(path) && !/^\/docs(?:\/|$)/.test(path)) return <ClosedNode />
  return (
    <Boundary place={url}>
      <Router onRouteChange={focusContent}>
        <Route path="/" component={CataloguePage} />
        {lazyPages.flatMap(([paths, component]) =>
          paths.map((one) => <Route key={one} path={one} component={component} />),
        )}
        <Route path="/:owner/:name?" component={ShortAddress} />
        <Route default component={NotHere} />
      </Router>
    </Boundary>
  )
}

/**
 * Redirects `OWNER` and `OWNER/NAME` below the node's URL to their pages. The node itself does so, unless it is
 * private, or is published below `/skills`, where these addresses look like those of pages.
 */
function ShortAddress({ owner, name }: { owner: string; name?: string }) {
  const { route } = useLocation()
  const isReserved = reservedOwners.has(owner)
  useEffect(() => {
    if (!isReserved) route(name === undefined ? addresses.user(owner) : addresses.skill(`${owner}/${name}`), true)
  }, [owner, name])
  return isReserved ? <NotHere /> : null
}

/** Whether a path has no invalid percent escapes, at which the router would fail. */
function isDecodablePath(path: string): boolean {
  try {
    // Use the result; otherwise the bundler removes the call.
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}

/** Moves the focus to new content for keyboard and screen reader users, but not while the user is typing in a field. */
function focusContent(): void {
  if (document.activeElement instanceof HTMLInputElement) return
  document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
}
