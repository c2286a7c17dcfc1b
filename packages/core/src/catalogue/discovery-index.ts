import { RegistryError } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './context/catalogue-context.ts'
import type { Artifact } from './context/ports.ts'
import { answerFor, type DiscoveryScope, type Offer } from './offers/discovery-offers.ts'
import { type Indexed, readIndexed } from './indexed-skills.ts'

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

/** The index of a scope. Throws `not_found` if it would be empty, since installers treat an empty index as missing. */
export function readDiscoveryIndex(
  context: CatalogueContext,
  scope: DiscoveryScope,
  caller: Caller,
): Promise<DiscoveryIndex> {
  return answerFor(context, async () => {
    const skills = (await readIndexed(context, scope, caller)).map((indexed) => toEntry(scope, indexed))
    return { $schema: schema, skills }
  })
}

function toEntry(scope: DiscoveryScope, { offer, artifact }: Indexed): DiscoveryEntry {
  const { name, description } = offer
  const { type, digest } = artifact
  return { name, type, description, url: toUrl(scope, offer, type), digest }
}

/** A permanent URL, since versions never change. URLs in a pack include the owner: its skills have several owners. */
function toUrl(scope: DiscoveryScope, { owner, name, version }: Offer, type: Artifact['type']): string {
  const file = `${name}-${version}.${type === 'archive' ? 'zip' : 'md'}`
  return scope.of === 'pack' ? `${owner}/${file}` : file
}

/** A skill of a scope as a zip. */
interface OfferedZip extends Pick<Offer, 'owner' | 'name' | 'version' | 'description'> {
  /** The URL of the zip, relative to the list. */
  readonly url: string
  readonly digest: string
}

/**
 * The skills of a scope as zips, for installers that take a zip as a plugin. Leaves out versions that would bring more
 * than the skill. Throws as {@link readDiscoveryIndex} does.
 */
export function listZips(context: CatalogueContext, scope: DiscoveryScope, caller: Caller): Promise<OfferedZip[]> {
  return answerFor(context, async () => {
    const indexed = await readIndexed(context, scope, caller)
    const plain = indexed.filter(({ artifact }) => !artifact.isPluginRoot)
    if (plain.length === 0) {
      throw new RegistryError(
        'not_found',
        'As plugins these skills would bring hooks or servers. Install them as skills.',
      )
    }
    return plain.map(({ offer, artifact }) => {
      const { owner, name, version, description } = offer
      return { owner, name, version, description, url: toUrl(scope, offer, 'archive'), digest: artifact.zipDigest }
    })
  })
}
