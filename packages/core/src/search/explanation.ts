import { searchFields } from './search-document.ts'
import type { TermGroup } from './term-groups.ts'
import type { TextIndex } from './text-index.ts'
import { fieldMark, sentenceBreak } from './words/tokenize.ts'

/** Why a skill matched. */
export interface SearchMatch {
  /** 0 to about 3; comparable only among the hits of one query. */
  score: number
  /** The fields of `searchFields` that contain at least one of `terms`. */
  fields: string[]
  /** The words of the skill that matched terms of the query. */
  terms: string[]
}

/** The terms of a query: words with their variants, and the hashes of the stems of a described need. */
interface Terms {
  readonly groups: readonly TermGroup[]
  readonly stems: ReadonlyMap<number, unknown>
}

/** Finds the words of a skill's short texts that matched the query. */
export function explainMatch(slot: number, score: number, { groups, stems }: Terms, text: TextIndex): SearchMatch {
  const ids = new Set(groups.flatMap(({ variants }) => variants.map(({ id }) => id)))
  const fields = new Set<string>()
  const terms = new Set<string>()
  let field = ''
  for (const word of text.wordsAt(slot)) {
    if (word >= fieldMark) field = searchFields[word - fieldMark]!
    else if (word !== sentenceBreak && (ids.has(word) || stems.has(text.stemOf(word)))) {
      fields.add(field)
      terms.add(text.vocabulary.wordOf(word))
    }
  }
  return { score: Math.round(score * 10_000) / 10_000, fields: [...fields], terms: [...terms] }
}
