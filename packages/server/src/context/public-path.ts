import type { ServerRequest } from 'srvx'
import type { MountedRoutes } from './mounted-routes.ts'

/** Removes the path of the public URL from the target of a request. */
export type RemovePublicPath = (request: ServerRequest) => void

/**
 * Returns a function for the requests of a node that a proxy publishes below a path, such as `/skills`. Some proxies
 * remove this path from requests and others keep it, so the function removes it from targets that have it:
 * `/skills/docs` becomes `/docs`. A target that is a route of the node itself stays: with `/skills/alice/pdf`, the node
 * has this page, and nothing at `/alice/pdf`. Undefined for a node without a path.
 */
export function createRemovePublicPath(path: string, routes: MountedRoutes): RemovePublicPath | undefined {
  if (path === '') return undefined
  const pattern = new RegExp(`^(https?://[^/?#]+)?${path.replaceAll('.', '\\.')}(?:/|(?=[?#])|$)`)
  const firstWords = new Set([...routes.patterns].map(toFirstWord))
  const toRest = (target: string) => {
    const [match, origin = ''] = pattern.exec(target) ?? []
    if (match === undefined) return target
    const rest = `/${target.slice(match.length)}`
    const isPath = routes.isServed(toPathname(rest)) || firstWords.has(toFirstWord(rest))
    return isPath || !routes.isServed(toPathname(target.slice(origin.length))) ? origin + rest : target
  }
  return (request) => {
    const req = request.runtime?.node?.req
    if (req?.url !== undefined) req.url = toRest(req.url)
    // Without Node's request, h3 routes by the property `_url`.
    else Object.assign(request, { _url: new URL(toRest(request.url)) })
  }
}

function toPathname(target: string): string {
  return /^[^?#]*/.exec(target)![0]
}

/** The first segment of a path or route pattern; empty for the root, and if the pattern begins with a parameter. */
function toFirstWord(path: string): string {
  return /^\/([^/?#:*]*)/.exec(path)?.[1] ?? ''
}
