import type { H3, H3Event } from 'h3'
import type { ServerRequest } from 'srvx'

/** Removes the path of the public URL from the target of a request. */
export type RemovePublicPath = (request: ServerRequest) => void

/** The route of `app.all('/**')`, which answers what no other route does. */
export const unknownRoute = '/**'

/**
 * Returns a function for the requests of a node that a proxy publishes below a path, such as `/skills`. Some proxies
 * remove the path and others keep it, so the function removes it where it is: `/skills/docs` becomes `/docs`. Routes of
 * the node may begin with the same word. `/skills/alice/pdf` stays as it is: the node has this page, and nothing at
 * `/alice/pdf`. Undefined without a path. Call it after all routes are mounted.
 */
export function createRemovePublicPath(path: string, app: H3): RemovePublicPath | undefined {
  if (path === '') return undefined
  const pattern = new RegExp(`^(https?://[^/?#]+)?${path.replaceAll('.', '\\.')}(?:/|(?=[?#])|$)`)
  const firstWords = new Set(app['~routes'].map(({ route = '' }) => toFirstWord(route)))
  const isServed = (pathname: string) => {
    const found = app['~findRoute']({ req: { method: 'GET' }, url: { pathname } } as H3Event)
    return found !== undefined && found.data.route !== unknownRoute
  }
  const toRest = (target: string) => {
    const [match, origin = ''] = pattern.exec(target) ?? []
    if (match === undefined) return target
    const rest = `/${target.slice(match.length)}`
    const isPath = isServed(toPathname(rest)) || firstWords.has(toFirstWord(rest))
    return isPath || !isServed(toPathname(target.slice(origin.length))) ? origin + rest : target
  }
  return (request) => {
    const req = request.runtime?.node?.req
    if (req?.url !== undefined) req.url = toRest(req.url)
    // h3 routes by this property.
    else Object.assign(request, { _url: new URL(toRest(request.url)) })
  }
}

function toPathname(target: string): string {
  return /^[^?#]*/.exec(target)![0]
}

/** The first segment of a path, empty for the root; of a pattern only if it is not a parameter. */
function toFirstWord(path: string): string {
  return /^\/([^/?#:*]*)/.exec(path)?.[1] ?? ''
}
