import { reservedOwners } from '@skillstead/protocol'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import { addresses, nodePath } from './addresses.ts'
import { Boundary } from './boundary.tsx'
import { useIsClosed } from './session.ts'
import { Footer, Header } from './frame.tsx'
import { CataloguePage } from './pages/catalogue/catalogue-page.tsx'
import { ClosedNode, NotHere } from './pages/placeholder-pages.tsx'
import { BelowNode } from './below-node.tsx'
import { lazyPage } from './ui/lazy-components.tsx'

const SkillPage = lazyPage(() => import('./pages/skill/skill-page.tsx'))
const PacksPage = lazyPage(() => import('./pages/packs/packs-page.tsx'))
const PackPage = lazyPage(() => import('./pages/packs/pack-page.tsx'))
const TrendingPage = lazyPage(() => import('./pages/community/trending-page.tsx'))
const AgentsPage = lazyPage(() => import('./pages/community/agents-page.tsx'))
const AgentPage = lazyPage(() => import('./pages/community/agent-page.tsx'))
const UsersPage = lazyPage(() => import('./pages/users/users-page.tsx'))
const UserPage = lazyPage(() => import('./pages/users/user-page.tsx'))
const RequestsPage = lazyPage(() => import('./pages/requests/requests-page.tsx'))
const ExternalPage = lazyPage(() => import('./pages/community/external-page.tsx'))
const TakedownsPage = lazyPage(() => import('./pages/takedowns/takedowns-page.tsx'))
const TakedownPage = lazyPage(() => import('./pages/takedowns/takedown-page.tsx'))
const AccountPages = lazyPage(() => import('./pages/account/account-pages.tsx'))
const DocsPages = lazyPage(() => import('./pages/docs/docs-pages.tsx'))
const DevicePage = lazyPage(() => import('./pages/account/device-page.tsx'))
const ComponentsPage = lazyPage(() => import('./pages/components-page.tsx'))
const AdminPages = lazyPage(() => import('./pages/admin/admin-pages.tsx'))

/** Addresses that the node serves outside of this app: links to them leave the app. */
const ownPages = new RegExp(`^${nodePath}/(?!(?:api|docs/guides|openapi\\.json|metrics|healthz|readyz|mcp)(?:[/?#]|$))`)

export function App() {
  return (
    <LocationProvider scope={ownPages}>
      <BelowNode>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Header />
        <main id="main" tabIndex={-1}>
          <Pages />
        </main>
        <Footer />
      </BelowNode>
    </LocationProvider>
  )
}

/** The pages for signing in, which stay open on a private node; so does the documentation. */
const entrances = new Set(['/account/sign-in', '/account/setup'])

function Pages() {
  const { url, path } = useLocation()
  const isClosed = useIsClosed()
  if (!isDecodablePath(path)) return <NotHere />
  if (isClosed && !entrances.has(path) && !/^\/docs(?:\/|$)/.test(path)) return <ClosedNode />
  return (
    <Boundary place={url}>
      <Router onRouteChange={focusContent}>
        <Route path="/" component={CataloguePage} />
        <Route path="/skills/:owner/:name/:tab?" component={SkillPage} />
        <Route path="/packs" component={PacksPage} />
        <Route path="/packs/:slug" component={PackPage} />
        <Route path="/trending" component={TrendingPage} />
        <Route path="/agents" component={AgentsPage} />
        <Route path="/agents/:agentKey" component={AgentPage} />
        <Route path="/users" component={UsersPage} />
        <Route path="/users/:username" component={UserPage} />
        <Route path="/requests" component={RequestsPage} />
        <Route path="/external" component={ExternalPage} />
        <Route path="/takedowns" component={TakedownsPage} />
        <Route path="/takedowns/:id" component={TakedownPage} />
        <Route path="/account" component={AccountPages} />
        <Route path="/account/*" component={AccountPages} />
        <Route path="/docs" component={DocsPages} />
        <Route path="/docs/*" component={DocsPages} />
        <Route path="/device" component={DevicePage} />
        <Route path="/admin" component={AdminPages} />
        <Route path="/admin/*" component={AdminPages} />
        <Route path="/_components" component={ComponentsPage} />
        <Route path="/:owner/:name?" component={ShortAddress} />
        <Route default component={NotHere} />
      </Router>
    </Boundary>
  )
}

/**
 * `OWNER` and `OWNER/NAME` below the node's URL, from which the node redirects to the pages, unless it is private, or is
 * published below `/skills`, where they look like pages.
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
