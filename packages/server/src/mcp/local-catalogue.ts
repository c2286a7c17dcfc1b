import { listOffers, readOfferedFiles, type Caller, type Registry } from '@skillstead/core'
import type { Catalogue } from './catalogue.ts'
import { findDocument } from './skill-entries.ts'

/** The skills of a local registry, as a caller sees them. A page takes as many queries as a single skill. */
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
