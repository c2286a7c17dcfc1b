// The underscores are MiniSearch's names for what it leaves to subclasses (`protected` in its types).
// oxlint-disable no-underscore-dangle
import MiniSearch from 'minisearch'
import { grown } from './grown.ts'
import { searchFields } from './search-document.ts'

/** The postings of one term: for each field that has it (an index into `searchFields`), entry numbers and frequencies. */
export type Postings = ReadonlyMap<number, ReadonlyMap<number, number>>

/** The tokens of one document, a list for each of `searchFields`. */
export interface TermDocument {
  slot: number
  fields: string[][]
}

/**
 * The inverted index: MiniSearch with documents that are tokenised already. Its own `search` builds an object for every
 * match and sorts them all: 50 to 150 ms at the 99th percentile among 50,000 skills (`test/bench/search.ts`). The ranking
 * here walks the postings instead and keeps its numbers in typed arrays.
 */
export class TermIndex extends MiniSearch<TermDocument> {
  #slotOfEntry = new Int32Array(1024)
  #lengths = new Int32Array(1024)

  constructor() {
    super({
      idField: 'slot',
      fields: [...searchFields],
      autoVacuum: false,
      extractField: (document, field) =>
        (field === 'slot' ? document.slot : document.fields[fieldIndex(field)]) as unknown as string,
      stringifyField: (tokens) => tokens,
      tokenize: (tokens) => tokens as unknown as string[],
      processTerm: (term) => term,
    })
  }

  /** Adds a document; its slot must be free. */
  override add(document: TermDocument): void {
    const entry = this._nextId
    super.add(document)
    if (entry >= this.#slotOfEntry.length) this.#slotOfEntry = grown(this.#slotOfEntry)
    this.#slotOfEntry[entry] = document.slot
    const first = document.slot * searchFields.length
    if (first + searchFields.length > this.#lengths.length) this.#lengths = grown(this.#lengths, first * 2)
    for (const [field, tokens] of document.fields.entries()) this.#lengths[first + field] = tokens.length
  }

  /** The slot of each entry number that postings speak of. */
  get slotOfEntry(): Int32Array {
    return this.#slotOfEntry
  }

  /** The postings of a term, or undefined when no document has it. */
  findPostings(term: string): Postings | undefined {
    return this._index.get(term)
  }

  /** The number of tokens of each field, `searchFields.length` numbers for a slot. */
  get lengths(): Int32Array {
    return this.#lengths
  }

  /** The terms that begin with a prefix, in no particular order. */
  termsWithPrefix(prefix: string): Iterable<string> {
    return this._index.atPrefix(prefix).keys()
  }
}

function fieldIndex(field: string): number {
  return searchFields.indexOf(field as (typeof searchFields)[number])
}
