// MiniSearch marks the members that subclasses may use (`protected` in its types) with an underscore.
// oxlint-disable no-underscore-dangle
import MiniSearch from 'minisearch'
import SearchableMap from 'minisearch/SearchableMap'
import { grown } from './grown.ts'
import { searchFields } from './search-document.ts'
import { WordMap } from './word-map.ts'

/** The postings of one term: for each field (an index into `searchFields`), entry numbers and frequencies. */
export type Postings = ReadonlyMap<number, ReadonlyMap<number, number>>

/** The tokens of one document, a list for each of `searchFields`. */
export interface TermDocument {
  slot: number
  fields: string[][]
}

/**
 * The terms and their postings. The radix tree compares a term with every branch of a node, and in a catalogue with
 * many scripts the root has thousands: a known term is therefore found by hash.
 */
class Terms extends SearchableMap<Map<number, Map<number, number>>> {
  readonly #byTerm = new WordMap<Map<number, Map<number, number>>>()

  override fetch(term: string, initial: () => Map<number, Map<number, number>>): Map<number, Map<number, number>> {
    let postings = this.#byTerm.get(term)
    if (!postings) this.#byTerm.set(term, (postings = super.fetch(term, initial)))
    return postings
  }

  override get(term: string): Map<number, Map<number, number>> | undefined {
    return this.#byTerm.get(term)
  }

  override has(term: string): boolean {
    return this.#byTerm.has(term)
  }

  override delete(term: string): void {
    this.#byTerm.delete(term)
    super.delete(term)
  }
}

/**
 * The inverted index: MiniSearch with pre-tokenised documents. Its own `search` creates an object for every match and
 * sorts them all: 50 to 150 ms at the 99th percentile among 50,000 skills (`test/bench/search.ts`). The ranking here
 * walks the postings and stores its numbers in typed arrays.
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
    // The package declares the same class twice, with incompatible types for the leaf marker.
    this._index = new Terms() as unknown as typeof this._index
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

  /** The slot of each entry number in the postings. */
  get slotOfEntry(): Int32Array {
    return this.#slotOfEntry
  }

  /** The postings of a term; undefined if no document contains it. */
  findPostings(term: string): Postings | undefined {
    return this._index.get(term)
  }

  /** Number of tokens per field: `searchFields.length` numbers for each slot. */
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
