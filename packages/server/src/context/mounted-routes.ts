import type { H3, H3Event } from 'h3'

/** The routes of an app (H3). */
export interface MountedRoutes {
  /** The patterns of the routes, such as `/skills/:name`. */
  readonly patterns: ReadonlySet<string>
  /** Whether a route other than {@link unknownRoute} answers `GET` of a path. */
  isServed(pathname: string): boolean
}

/** The route of `app.all('/**')`, which answers requests that no other route answers. */
export const unknownRoute = '/**'

/** Lists an app's routes, once all are mounted. Uses undocumented members: H3 documents no way to list or find them. */
export function listMountedRoutes(app: H3): MountedRoutes {
  return {
    patterns: new Set(app['~routes'].map(({ route = '' }) => route)),
    isServed(pathname) {
      const found = app['~findRoute']({ req: { method: 'GET' }, url: { pathname } } as H3Event)
      return found !== undefined && found.data.route !== unknownRoute
    },
  }
}
