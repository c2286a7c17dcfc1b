import { options, type ComponentChildren } from 'preact'
import { LocationProvider, useLocation } from 'preact-iso'
import { useMemo } from 'preact/hooks'
import { nodePath } from './addresses.ts'

/**
 * Shows the app below the path of the node's public URL, which neither the router nor the pages see. An action that
 * ends after the user has left its page does not lead the user away from the new page.
 */
export function BelowNode({ children }: { children: ComponentChildren }) {
  const place = useLocation()
  const below = useMemo(() => {
    const here = location.pathname
    const route = (url: string, replace?: boolean) => {
      if (location.pathname === here) place.route(nodePath + url, replace)
    }
    return { ...place, url: toBelow(place.url), path: toBelow(place.path), route }
  }, [place])
  return <LocationProvider.ctx.Provider value={below}>{children}</LocationProvider.ctx.Provider>
}

/** Puts the path of the node before link addresses that begin with a slash. Call this before anything is rendered. */
export function placeLinksBelowNode(): void {
  if (nodePath === '') return
  const before = options.vnode
  options.vnode = (vnode) => {
    const { props, type } = vnode
    if (type === 'a' && 'href' in props && typeof props.href === 'string' && props.href.startsWith('/')) {
      props.href = nodePath + props.href
    }
    before?.(vnode)
  }
}

function toBelow(url: string): string {
  const rest = url.startsWith(nodePath) ? url.slice(nodePath.length) : url
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
