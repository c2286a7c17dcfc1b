import { searchFields } from './search-document.ts'
import type { TermGroup } from './term-groups.ts'
import type { TextIndex } from './text-index.ts'
import { fieldMark } from './tokenize.ts'

/** Why a skill matched. */
export interface SearchMatch {
  /** 0 to about 3; comparable only among the hits of one query. */
  score: number
  /** The fields of `searchFields` that contain one of the terms. */
  fields: string[]
  /** The words of the skill that matched terms of the query. */
  terms: string[]
}

/** Finds the words of a skill that matched the query. */
export function explainMatch(slot: number, score: number, groups: TermGroup[], text: TextIndex): SearchMatch {
  const ids = new Set(groups.flatMap(({ variants }) => variants.map(({ id }) => id)))
  const fields = new Set<string>()
  const terms = new Set<string>()
  let field = ''
  for (const word of text.wordsAt(slot)) {
    if (word >= fieldMark) field = searchFields[word - fieldMark]!
    if (!ids.has(word)) continue
    fields.add(field)
    terms.add(text.vocabulary.wordOf(word))
  }
  return { score: Math.round(score * 10_000) / 10_000, fields: [...fields], terms: [...terms] }
}
