import { type SkillText, toStemToken } from '../storage/text-search.ts'
import { type SearchTexts } from './search-document.ts'
import { hashesOf } from './term-vector.ts'
import { tokenize } from './tokenize.ts'

/**
 * The tokens of a skill's fields, for an index that splits at spaces (FTS5, `tsvector` with the `simple` dictionary).
 * `terms` are those of its latest SKILL.md, from `toContentVector`.
 */
export function toIndexText(document: SearchTexts, terms: Uint8Array = new Uint8Array()): SkillText {
  return {
    name: tokenize(`${document.name}\n${document.displayName}`).join(' '),
    owner: tokenize(document.owner).join(' '),
    keywords: tokenize(document.keywords.join('\n')).join(' '),
    description: tokenize(document.description).join(' '),
    headings: tokenize(document.headings.join('\n')).join(' '),
    summary: tokenize(document.summary).join(' '),
    category: tokenize(document.category).join(' '),
    body: Array.from(hashesOf(terms), toStemToken).join(' '),
  }
}
