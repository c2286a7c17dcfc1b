import { RegistryError } from '@skillstead/protocol'
import { cutAtWord } from '@skillstead/skill-format'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { Artifact } from './discovery-artifacts.ts'
import { answerFor, type DiscoveryScope, type Offer, readOffers } from './discovery-offers.ts'

/** An index of skills for installers, version 0.2.0 of the discovery specification. */
interface DiscoveryIndex {
  readonly $schema: string
  readonly skills: readonly DiscoveryEntry[]
}

interface DiscoveryEntry {
  readonly name: string
  readonly type: Artifact['type']
  readonly description: string
  /** The URL of the file, relative to the index. */
  readonly url: string
  /** Digest of the file at `url`. */
  readonly digest: string
}

const schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const descriptionCharactersMax = 1024

/**
 * The index of a scope. Leaves out what installers would drop silently: skills without a name and description that
 * strict YAML can parse, and the second of two skills with one name. Throws `not_found` if nothing is left, since
 * installers treat an empty index as missing.
 */
export function readDiscoveryIndex(context: CatalogueContext, scope: DiscoveryScope, caller: Caller) {
  return answerFor(context, () => makeIndex(context, scope, caller))
}

async function makeIndex(context: CatalogueContext, scope: DiscoveryScope, caller: Caller): Promise<DiscoveryIndex> {
  const offers = await readOffers(context, scope, caller)
  const artifacts = await context.artifacts.describe(offers)
  const entries = new Map<string, DiscoveryEntry>()
  for (const offer of offers) {
    const artifact = artifacts.get(offer.digest)
    const description = cutAtWord(offer.description, descriptionCharactersMax).trim()
    if (!artifact || description === '' || entries.has(offer.name)) continue
    const { name } = offer
    const { type, digest } = artifact
    entries.set(name, { name, type, description, url: toUrl(scope, offer, type), digest })
  }
  if (entries.size === 0) throw nothingToInstall(offers)
  return { $schema: schema, skills: [...entries.values()] }
}

/** A permanent URL, since versions never change. URLs in a pack include the owner: its skills have several owners. */
function toUrl(scope: DiscoveryScope, { owner, name, version }: Offer, type: Artifact['type']): string {
  const file = `${name}-${version}.${type === 'archive' ? 'zip' : 'md'}`
  return scope.of === 'pack' ? `${owner}/${file}` : file
}

function nothingToInstall([offer]: readonly Offer[]): RegistryError {
  if (!offer) return new RegistryError('not_found', 'This address offers no installable skills.')
  const { owner, name, version } = offer
  return new RegistryError(
    'not_found',
    `The SKILL.md of ${owner}/${name}@${version} has no name and description that installers can parse.`,
  )
}
