import { RegistryError, toMarketplaceName } from '@skillstead/protocol'
import type { Caller } from '@skillstead/core'
import { countAndAnswer, type CatalogueContext, type DiscoveryScope, type Offer } from '@skillstead/core/internal'
import { findArtifact, parseArtifactFile, toArtifactPath } from './scopes/find-artifact.ts'
import { readIndexed } from './scopes/indexed-skills.ts'
import { requireClientAddress, type GatewayCall, type GatewayHost, type GatewayRoute, type Params } from './gateway.ts'
import { toClaudeMarketplace } from './scopes/marketplace-documents.ts'
import { listScopePaths, type ScopePath } from './scopes/scope-paths.ts'
import { answerFile, answerList, toScopeRoute } from './scopes/scope-routes.ts'
import { toPageRead } from './scopes/through-upstreams.ts'

const folder = '/.claude-plugin'

/**
 * Marketplaces of Claude Code as documents, at every scope that has a skill index: each skill is a plugin, whose source
 * is a zip. Claude Code accepts sources that are zips over HTTPS only. The git gateway offers the same marketplaces as
 * repositories.
 */
export function marketplaces(host: GatewayHost): GatewayRoute[] {
  return listScopePaths(host.discoveryPack).flatMap((path) => toMarketplaceRoutes(host, path))
}

function toMarketplaceRoutes(host: GatewayHost, path: ScopePath): GatewayRoute[] {
  const { context } = host
  return [
    toScopeRoute(host, {
      path,
      below: `${folder}/marketplace.json`,
      admission: 'keyed-files',
      answer(call, params) {
        const scope = path.read(params)
        const base = `${requireClientAddress(host, call)}${toMarketplacePath(path.pattern, params)}${folder}/`
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
      admission: 'keyed-files',
      answer(call, params) {
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
  const { name, owner } = toMarketplaceNames(scope, zips[0]!)
  const skills = zips.map(({ url, digest, ...skill }) => {
    return { ...skill, source: { url: base + url, sha256: digest.slice('sha256:'.length) } }
  })
  return toClaudeMarketplace({ name, owner, description: `Skills from ${host.addressOf(call)}`, skills })
}

/** A skill of a scope as a zip. */
interface OfferedZip extends Pick<Offer, 'owner' | 'name' | 'version' | 'description'> {
  /** The URL of the zip, relative to the list. */
  readonly url: string
  readonly digest: string
}

/**
 * The skills of a scope as zips, for installers that take a zip as a plugin. Leaves out versions that, installed as a
 * plugin, would run or configure more than the skill. Throws `not_found` if no version is left.
 */
function listZips(context: CatalogueContext, scope: DiscoveryScope, caller: Caller): Promise<OfferedZip[]> {
  return countAndAnswer(context, async () => {
    const indexed = await readIndexed(context, scope, caller)
    const plain = indexed.filter(({ artifact }) => !artifact.isPluginRoot)
    if (plain.length === 0) {
      throw new RegistryError(
        'not_found',
        'All skills here contain files, such as hooks or servers, that a plugin would activate. Install them as skills.',
      )
    }
    return plain.map(({ offer, artifact }) => {
      const { owner, name, version, description } = offer
      return {
        owner,
        name,
        version,
        description,
        url: toArtifactPath(scope, offer, 'archive'),
        digest: artifact.zipDigest,
      }
    })
  })
}

/** The names of a scope's marketplace and its owner. The marketplace of a share link is named after its only skill. */
function toMarketplaceNames(scope: DiscoveryScope, first: { readonly owner: string; readonly name: string }) {
  switch (scope.of) {
    case 'owner':
      return { name: toMarketplaceName(scope.owner), owner: scope.owner }
    case 'pack':
      return { name: toMarketplaceName(scope.slug), owner: scope.slug }
    default:
      return { name: toMarketplaceName(`${first.owner}-${first.name}`), owner: first.owner }
  }
}

function toMarketplacePath(pattern: string, params: Params): string {
  return pattern.replaceAll(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}
