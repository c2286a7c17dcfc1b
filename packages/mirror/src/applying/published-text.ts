import { endpoints, limits, toVisibleText } from '@skillstead/protocol'
import * as v from 'valibot'
import { cleanKeywords } from '@skillstead/core/internal'

/** The schemas of a request to publish. */
const { displayName, description, license, category, repository, deprecationMessage, changelog } =
  endpoints.publishSkill.input.entries
const schemas = { displayName, description, license, category, repository, deprecationMessage, changelog } as const

/** Maximum lengths, to which texts are shortened. URLs are not shortened, because a shorter URL leads elsewhere. */
const charactersMax: Readonly<Record<keyof typeof schemas, number>> = {
  displayName: limits.displayNameCharactersMax,
  description: limits.descriptionCharactersMax,
  license: 128,
  category: 64,
  repository: Infinity,
  deprecationMessage: 1000,
  changelog: limits.changelogCharactersMax,
}

/**
 * Limits a text of an upstream to what a user of this node could publish: without invisible characters, and shortened
 * to the maximum length. Empty if a request with the text would be rejected.
 */
export function toPublishedText(text: string, field: keyof typeof schemas): string {
  const value = toVisibleText(text).slice(0, charactersMax[field]).toWellFormed()
  return v.is(schemas[field], value) ? value : ''
}

/** The keywords of an upstream, limited to what a user of this node could publish. */
export function toPublishedKeywords(keywords: readonly string[]): string[] {
  return cleanKeywords(keywords).slice(0, limits.keywordsMax)
}
