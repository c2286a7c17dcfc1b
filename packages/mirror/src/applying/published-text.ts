import { endpoints, limits, toVisibleText } from '@skillstead/protocol'
import * as v from 'valibot'
import { cleanKeywords } from '@skillstead/core/internal'

/** Maximum lengths to which texts are shortened. URLs have no maximum, because a shortened URL would lead elsewhere. */
const charactersMax = {
  displayName: limits.displayNameCharactersMax,
  description: limits.descriptionCharactersMax,
  license: 128,
  category: 64,
  repository: Infinity,
  deprecationMessage: 1000,
  changelog: limits.changelogCharactersMax,
} as const

type Field = keyof typeof charactersMax

/** Schemas of a publish request's fields. Cast, because an endpoint's type declares only the parsed values. */
const schemas = (endpoints.publishSkill.input as object as { readonly entries: Record<Field, v.GenericSchema> }).entries

/**
 * Limits a text of an upstream to what a user of this node could publish: removes invisible characters, and shortens it
 * to the maximum length. Empty if a publish request with the text would be rejected.
 */
export function toPublishedText(text: string, field: Field): string {
  const value = toVisibleText(text).slice(0, charactersMax[field]).toWellFormed()
  return v.is(schemas[field], value) ? value : ''
}

/** The keywords of an upstream, limited to what a user of this node could publish. */
export function toPublishedKeywords(keywords: readonly string[]): string[] {
  return cleanKeywords(keywords).slice(0, limits.keywordsMax)
}
