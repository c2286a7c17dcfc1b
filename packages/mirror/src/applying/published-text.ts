import { endpoints, limits, toVisibleText } from '@skillstead/protocol'
import * as v from 'valibot'
import { cleanKeywords } from '@skillstead/core/internal'

/** As a request to publish has them. */
const { displayName, description, license, category, repository, deprecationMessage, changelog } =
  endpoints.publishSkill.input.entries
const schemas = { displayName, description, license, category, repository, deprecationMessage, changelog } as const

/** How much of a longer text is taken. An address is not cut: its beginning leads elsewhere. */
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
 * A text of an upstream as a user of this node could publish it: without invisible characters, and cut to its length.
 * Empty where a request with it would be refused.
 */
export function toPublishedText(text: string, field: keyof typeof schemas): string {
  const value = toVisibleText(text).slice(0, charactersMax[field]).toWellFormed()
  return v.is(schemas[field], value) ? value : ''
}

/** As many keywords of an upstream as a user of this node could publish. */
export function toPublishedKeywords(keywords: readonly string[]): string[] {
  return cleanKeywords(keywords).slice(0, limits.keywordsMax)
}
