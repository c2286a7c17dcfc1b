import type { Caller } from '@skillstead/core'
import {
  type CatalogueContext,
  type Artifact,
  type DiscoveryScope,
  type Offer,
  ownerEntriesMax,
  readOffers,
} from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { shortenAtWord } from '@skillstead/skill-format'

/** A version that installers find in an index of any format. */
export interface Indexed {
  readonly offer: Offer
  readonly artifact: Artifact
}

const descriptionCharactersMax = 1024

/**
 * The entries of the index of a scope, in order; if `name` is given, only the skills of this name. Leaves out skills
 * that installers would drop silently: skills without a name and description that strict YAML can parse, and the second
 * of two skills with the same name. Throws `not_found` if no skill is left.
 */
export async function readIndexed(
  context: CatalogueContext,
  scope: DiscoveryScope,
  caller: Caller,
  name?: string,
): Promise<Indexed[]> {
  const offers = await readOffers(context, scope, caller, name)
  const entriesMax = scope.of === 'owner' ? ownerEntriesMax : Infinity
  const indexed = new Map<string, Indexed>()
  for (let at = 0; at < offers.length && indexed.size < entriesMax; at += ownerEntriesMax) {
    const part = offers.slice(at, at + ownerEntriesMax)
    const artifacts = await context.artifacts.describe(part)
    for (const offer of part) {
      const artifact = artifacts.get(offer.digest)
      const description = shortenAtWord(offer.description.trim(), descriptionCharactersMax)
      const isOpen = indexed.size < entriesMax && !indexed.has(offer.name)
      if (artifact && description !== '' && isOpen)
        indexed.set(offer.name, { offer: { ...offer, description }, artifact })
    }
  }
  if (indexed.size === 0) throw nothingToInstall(offers)
  const found = [...indexed.values()]
  // Sorted by name, because the order of `offers` depends on download counters.
  return scope.of === 'owner' ? found.toSorted((a, b) => (a.offer.name < b.offer.name ? -1 : 1)) : found
}

function nothingToInstall([offer]: readonly Offer[]): RegistryError {
  if (!offer) return new RegistryError('not_found', 'This address offers no installable skills.')
  const { owner, name, version } = offer
  return new RegistryError(
    'not_found',
    `The SKILL.md of ${owner}/${name}@${version} has no name and description that installers can parse.`,
  )
}
