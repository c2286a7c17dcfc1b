import type { Caller } from '@skillstead/core'
import { type CatalogueContext, type Artifact, countAndAnswer, type DiscoveryScope } from '@skillstead/core/internal'
import { toArtifactPath } from '../scopes/find-artifact.ts'
import { type Indexed, readIndexed } from '../scopes/indexed-skills.ts'

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

/** The index of a scope. Throws `not_found` if it would be empty, as installers treat an empty index as missing. */
export function readDiscoveryIndex(
  context: CatalogueContext,
  scope: DiscoveryScope,
  caller: Caller,
): Promise<DiscoveryIndex> {
  return countAndAnswer(context, async () => {
    const skills = (await readIndexed(context, scope, caller)).map((indexed) => toDiscoveryEntry(scope, indexed))
    return { $schema: schema, skills }
  })
}

function toDiscoveryEntry(scope: DiscoveryScope, { offer, artifact }: Indexed): DiscoveryEntry {
  const { name, description } = offer
  const { type, digest } = artifact
  return { name, type, description, url: toArtifactPath(scope, offer, type), digest }
}
