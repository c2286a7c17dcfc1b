import { type DiscoveryScope, findArtifact, listZips, parseArtifactFile } from '@skillstead/core/internal'
import { requireAddress, type GatewayCall, type GatewayHost, type GatewayRoute, type Params } from '../gateway.ts'
import { toClaudeMarketplace } from '../scopes/marketplace-documents.ts'
import { listScopePaths, type ScopePath } from '../scopes/scope-paths.ts'
import { answerFile, answerList, toScopeRoute } from '../scopes/scope-routes.ts'
import { toPageRead } from '../scopes/through-upstreams.ts'

const folder = '/.claude-plugin'

/**
 * Marketplaces of Claude Code as documents, at every scope that has a skill index: each skill is a plugin, whose source
 * is a zip. Claude Code accepts such sources over HTTPS only. The gateway for git has them as repositories.
 */
export function marketplaces(host: GatewayHost): GatewayRoute[] {
  return listScopePaths(host.discoveryPack).flatMap((path) => toRoutes(host, path))
}

function toRoutes(host: GatewayHost, path: ScopePath): GatewayRoute[] {
  const { context } = host
  return [
    toScopeRoute(host, {
      path,
      below: `${folder}/marketplace.json`,
      admission: 'keyed',
      answer(call, params) {
        const scope = path.read(params)
        const base = `${requireAddress(host, call)}${toAddress(path.pattern, params)}${folder}/`
        const list = {
          kind: ['marketplace', base] as const,
          make: async () => ({ value: await readMarketplace(host, call, scope, base) }),
        }
        return answerList(host, call, { scope, read: toPageRead(scope) }, list)
      },
    }),
    toScopeRoute(host, {
      path,
      below: `${folder}${path.artifact}`,
      admission: 'keyed',
      async answer(call, params) {
        await host.spendFile(call)
        const { holder: owner, file = '' } = params
        const scope = path.read(params)
        const find = () => findArtifact(context, { scope, owner, file, zips: true }, call.caller)
        return answerFile(host, call, { scope, read: toPageRead(scope, parseArtifactFile(file)) }, find)
      },
    }),
  ]
}

/** `base` is the address of the folder with the zips. */
async function readMarketplace(host: GatewayHost, call: GatewayCall, scope: DiscoveryScope, base: string) {
  const zips = await listZips(host.context, scope, call.caller)
  const { name, owner } = toNames(scope, zips[0]!)
  const skills = zips.map(({ url, digest, ...skill }) => {
    return { ...skill, source: { url: base + url, sha256: digest.slice('sha256:'.length) } }
  })
  return toClaudeMarketplace({ name, owner, description: `Skills from ${host.addressOf(call)}`, skills })
}

/** The name of a marketplace; that of a share link is the name of its only skill. */
function toNames(scope: DiscoveryScope, first: { readonly owner: string; readonly name: string }) {
  switch (scope.of) {
    case 'owner':
      return { name: scope.owner, owner: scope.owner }
    case 'pack':
      return { name: scope.slug, owner: scope.slug }
    default:
      return { name: `${first.owner}-${first.name}`, owner: first.owner }
  }
}

function toAddress(pattern: string, params: Params): string {
  return pattern.replaceAll(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}
