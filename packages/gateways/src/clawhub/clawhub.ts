import { requireClientAddress, type Gateway, type GatewayHost, type GatewayRoute } from '../gateway.ts'
import { communityRoutes } from './community-routes.ts'
import { fetchRoutes } from './fetch-routes.ts'
import { findRoutes, inspectSkill, listSkills, showSkillVersion } from './find-routes.ts'
import { missingRoutes } from './missing-routes.ts'
import { publishUploads, publishRoutes } from './publish-routes.ts'
import { mountPath, type RouteTable, toClawhubAnswer, toClawhubRoutes, toTextFailure } from './route-table.ts'
import { transferRoutes } from './transfer-routes.ts'
import { deleteClawhubSkill, deleteVersion, withdrawRoutes } from './withdraw-routes.ts'

/**
 * The API of ClawHub under {@link mountPath}, for the programs `clawhub` and OpenClaw. Functions without a counterpart
 * in this registry respond with a text that names an alternative.
 */
export const clawhub: Gateway = (host) => {
  // Paths whose methods are implemented in several files.
  const shared: RouteTable = {
    '/api/v1/skills': { GET: listSkills, POST: publishUploads },
    '/api/v1/skills/:slug': { GET: inspectSkill, DELETE: deleteClawhubSkill },
    '/api/v1/skills/:slug/versions/:version': { GET: showSkillVersion, DELETE: deleteVersion },
  }
  const tables = [findRoutes, fetchRoutes, shared, publishRoutes, withdrawRoutes, communityRoutes, transferRoutes]
  return [...toDiscovery(host), ...tables.flatMap((routes) => toClawhubRoutes(host, routes)), ...missingRoutes]
}

/**
 * The document in which `clawhub` finds the URL of a site's API. On a private node guests may read the document, too,
 * because a sign-in begins with it.
 */
function toDiscovery(host: GatewayHost): GatewayRoute[] {
  return ['clawhub', 'clawdhub'].map((name) => ({
    pattern: `/.well-known/${name}.json`,
    endpoint: 'clawhubDiscovery',
    methods: ['GET', 'HEAD'],
    admission: 'open-files',
    answer(call) {
      const address = requireClientAddress(host, call)
      return toClawhubAnswer({ apiBase: `${address}${mountPath}`, authBase: address })
    },
    toFailure: toTextFailure,
  }))
}
