import type { Caller, Registry } from '@skillstead/core'
import { addOfferedFiles, listOffers, partsOf, readOfferedFiles } from '@skillstead/core/internal'
import type { Catalogue } from './catalogue.ts'
import { findDocument } from './skill-entries.ts'

/** The skills of a local registry, as a caller sees them. */
export function localCatalogue(registry: Registry, caller: Caller): Catalogue {
  const context = partsOf(registry)
  return {
    async listSkills(page, limit) {
      const { skills, totalPages } = await listOffers(context, { page, limit }, caller)
      return { skills, totalPages, readFiles: (from, to) => addOfferedFiles(context, skills.slice(from, to)) }
    },
    readDocuments: (skills) =>
      readOfferedFiles(
        context,
        skills.map(findDocument).filter((file) => file !== undefined),
      ),
  }
}
