import type { Caller, Registry } from '@skillstead/core'
import { listOffers, partsOf, readOfferedFiles } from '@skillstead/core/internal'
import type { Catalogue } from './catalogue.ts'
import { findDocument } from './skill-entries.ts'

/** The skills of a local registry, as a caller sees them. A page takes as many queries as a single skill. */
export function localCatalogue(registry: Registry, caller: Caller): Catalogue {
  const context = partsOf(registry)
  return {
    listSkills: (page, limit) => listOffers(context, { page, limit }, caller),
    listNames: (page, limit) => listOffers(context, { page, limit }, caller),
    readDocuments: (skills) =>
      readOfferedFiles(
        context,
        skills.map(findDocument).filter((file) => file !== undefined),
      ),
  }
}
