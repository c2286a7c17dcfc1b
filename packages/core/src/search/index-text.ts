import { type SkillText, toStemToken } from '../storage/text-search.ts'
import { type SearchTexts } from './search-document.ts'
import { hashStem } from './count-stems.ts'
import { hashesOf } from './term-vector.ts'
import { isStopWord, tokenize } from './tokenize.ts'

/**
 * The tokens of a skill's fields, for an index that splits at spaces (FTS5, `tsvector` with the `simple` dictionary).
 * `terms` are those of its latest SKILL.md, from `toContentVector`. The body also has the stems of the other fields, so
 * that a need finds them by other forms of their words.
 */
export function toIndexText(document: SearchTexts, terms: Uint8Array = new Uint8Array()): SkillText {
  const words = {
    name: tokenize(`${document.name}\n${document.displayName}`),
    owner: tokenize(document.owner),
    keywords: tokenize(document.keywords.join('\n')),
    description: tokenize(document.description),
    headings: tokenize(document.headings.join('\n')),
    summary: tokenize(document.summary),
    category: tokenize(document.category),
  }
  const stems = Object.values(words).flatMap((field) => field.filter((word) => !isStopWord(word)).map(hashStem))
  const { name, owner, keywords, description, headings, summary, category } = words
  return {
    name: name.join(' '),
    owner: owner.join(' '),
    keywords: keywords.join(' '),
    description: description.join(' '),
    headings: headings.join(' '),
    summary: summary.join(' '),
    category: category.join(' '),
    body: Array.from(new Set([...hashesOf(terms), ...stems]), toStemToken).join(' '),
  }
}
