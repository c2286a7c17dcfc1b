import { type SkillText, toStemTokens } from '../storage/text-search.ts'
import { countStems } from './words/count-stems.ts'
import { searchFields, type SearchTexts } from './search-document.ts'
import { addWeights, joinVector, type TermVector, type TermWeights } from './words/term-vector.ts'
import { ruleOfField, textsOf } from './text-index.ts'
import { tokenize } from './words/tokenize.ts'

/**
 * The tokens of a skill's fields, for an index that splits at spaces (FTS5, `tsvector` with the `simple` dictionary).
 * `terms` are the terms of the latest SKILL.md, from `toContentVector`.
 */
export function toIndexText(document: SearchTexts, terms: Uint8Array = new Uint8Array()): SkillText {
  const { hashes, impacts } = toTerms(document, terms)
  return {
    name: tokenize(`${document.name}\n${document.displayName}`).join(' '),
    owner: tokenize(document.owner).join(' '),
    keywords: tokenize(document.keywords.join('\n')).join(' '),
    description: tokenize(document.description).join(' '),
    headings: tokenize(document.headings.join('\n')).join(' '),
    summary: tokenize(document.summary).join(' '),
    category: tokenize(document.category).join(' '),
    body: toStemTokens(hashes, (at) => (impacts[at]! < strongImpact ? 'weak' : 'strong')),
  }
}

/**
 * The lowest strong impact: three in ten terms of the open corpus have a strong impact. With the levels strong and
 * weak, the best 100 skills by described need contain the wanted skill for 0.950 of short needs and 0.963 of tasks;
 * with exact impacts for 0.958 of both, with a single level for 0.896 and 0.858.
 */
const strongImpact = 150

/** The terms of all fields, as the index in memory weights them. */
function toTerms(document: SearchTexts, content: Uint8Array): TermVector {
  const weights: TermWeights = new Map()
  for (const [at, texts] of textsOf(document).entries()) {
    const field = searchFields[at]!
    if (content.length > 0 && (field === 'headings' || field === 'summary')) continue
    const { stems, length } = countStems(texts.join('\n'))
    addWeights(weights, ruleOfField[field], stems, length)
  }
  return joinVector(content, weights)
}
