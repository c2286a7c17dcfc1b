import { listOffers, readOfferedFiles, type Caller, type Registry } from '@skillstead/core'
import type { Catalogue } from './catalogue.ts'
import { findDocument } from './skill-entries.ts'

/** The skills of a registry that is at hand, as a caller sees them: as many queries for a page as for one of it. */
export function localCatalogue(registry: Registry, caller: Caller): Catalogue {
  return {
    listSkills: (page, limit) => listOffers(registry, { page, limit }, caller),
    listNames: async (limit) => (await listOffers(registry, { page: 1, limit }, caller)).skills,
    readDocuments: (skills) =>
      readOfferedFiles(
        registry,
        skills.map(findDocument).filter((file) => file !== undefined),
      ),
  }
}
