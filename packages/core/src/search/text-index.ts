import MiniSearch from 'minisearch'
import SearchableMap from 'minisearch/SearchableMap'
import { Census } from './census.ts'
import { growArray } from './grow-array.ts'
import { type SearchDocument, searchFields } from './search-document.ts'
import { addWeights, type fieldRules, hashStem, type TermWeights } from './term-vector.ts'
import { fieldLengthMax, fieldMark, isStopWord, sentenceBreak, tokenize, tokenizeSentences } from './tokenize.ts'
import { TypoDictionary } from './typo-dictionary.ts'
import { Vocabulary, WordMap } from './vocabulary.ts'

/**
 * An index of the words of all skills: which skills contain a word, which words a skill contains, and corrections of
 * misspellings. It includes private skills, so viewers see it only through a `Lexicon`.
 */
export class TextIndex {
  readonly terms = new TermIndex()
  readonly vocabulary = new Vocabulary()
  readonly typos = new TypoDictionary((id) => this.vocabulary.wordOf(id))
  /** Private skills are in neither census. */
  readonly censuses = { public: new Census(), internal: new Census() }
  readonly #censusOf: (Census | undefined)[] = []
  readonly #words: (Int32Array | undefined)[] = []
  readonly #signatures: (string | undefined)[] = []
  /** By word id: the hash of the word's stem, or 0 for a stop word. */
  #stems = new Int32Array(1024)

  /**
   * Stores the text of a skill in a slot, replacing the old text. Does nothing and returns false if text, content and
   * audience are unchanged.
   */
  put(slot: number, document: SearchDocument): boolean {
    const texts = textsOf(document)
    const content = document.content ? hashBytes(document.content) : 0
    const signature = `${document.visibility}:${content}:${signatureOf(texts)}`
    if (this.#signatures[slot] === signature) return false
    this.remove(slot)
    const sentences = texts.map((text) => text.flatMap((part) => tokenizeSentences(part)))
    sentences[1] = [tokenize(document.owner)]
    this.terms.add({ slot, fields: sentences.map((field) => field.flat()) })
    const words = this.#toWords(sentences)
    this.#words[slot] = words
    this.#censusOf[slot] = document.visibility === 'private' ? undefined : this.censuses[document.visibility]
    this.#censusOf[slot]?.count(words, 1)
    this.#signatures[slot] = signature
    return true
  }

  /** Removes the text in a slot. */
  remove(slot: number): void {
    const words = this.#words[slot]
    if (!words) return
    this.terms.remove({ slot, fields: this.#fieldsOf(words) })
    this.#censusOf[slot]?.count(words, -1)
    this.#censusOf[slot] = undefined
    this.#words[slot] = undefined
    this.#signatures[slot] = undefined
    for (const id of distinct(words)) {
      const word = this.vocabulary.wordOf(id)
      if (this.vocabulary.release(id)) this.typos.remove(id, word)
    }
  }

  /** The words of a slot in order, with marks between fields and sentences. */
  wordsAt(slot: number): Int32Array {
    return this.#words[slot]!
  }

  /**
   * The weights of the terms of a slot's short texts, as far as its content does not have them: a skill without content,
   * such as a stub, is found by its headings and summary too.
   */
  weightsAt(slot: number, { hasContent }: { hasContent: boolean }): TermWeights {
    const weights: TermWeights = new Map()
    let counts = new Map<number, number>()
    let length = 0
    let field: (typeof searchFields)[number] = 'name'
    for (const word of [...this.#words[slot]!, fieldMark]) {
      if (word >= fieldMark) {
        const isInContent = hasContent && (field === 'headings' || field === 'summary')
        if (!isInContent) addWeights(weights, ruleOfField[field], counts, length)
        field = searchFields[word - fieldMark]!
        counts = new Map()
        length = 0
      } else if (word !== sentenceBreak) {
        const stem = this.#stems[word]!
        length++
        if (stem !== 0) counts.set(stem, (counts.get(stem) ?? 0) + 1)
      }
    }
    return weights
  }

  #toWords(sentences: string[][][]): Int32Array {
    const words: number[] = []
    for (const [field, parts] of sentences.entries()) {
      words.push(fieldMark | field)
      for (const part of parts) {
        for (const word of part) words.push(this.vocabulary.intern(word))
        words.push(sentenceBreak)
      }
    }
    const array = Int32Array.from(words)
    for (const id of distinct(array)) {
      if (this.vocabulary.retain(id)) this.#addWord(id)
    }
    return array
  }

  #addWord(id: number): void {
    const word = this.vocabulary.wordOf(id)
    this.typos.add(id, word)
    if (id >= this.#stems.length) this.#stems = growArray(this.#stems, id + 1)
    this.#stems[id] = isStopWord(word) ? 0 : hashStem(word)
  }

  #fieldsOf(words: Int32Array): string[][] {
    const fields: string[][] = searchFields.map(() => [])
    let field: string[] = []
    for (const word of words) {
      if (word >= fieldMark) field = fields[word - fieldMark]!
      else if (word !== sentenceBreak) field.push(this.vocabulary.wordOf(word))
    }
    return fields
  }
}

/** The parameters in the search by need of the short texts. */
const ruleOfField = {
  name: 'name',
  owner: 'labels',
  keywords: 'keywords',
  description: 'description',
  headings: 'headings',
  summary: 'lead',
  category: 'labels',
} as const satisfies Record<(typeof searchFields)[number], keyof typeof fieldRules>

function textsOf(document: SearchDocument): string[][] {
  const name = document.displayName === document.name ? [document.name] : [document.name, document.displayName]
  const { owner, keywords, description, headings, summary, category } = document
  return [name, [owner], keywords, [description], bounded(headings), [summary], [category]]
}

function bounded(parts: string[]): string[] {
  let length = 0
  return parts.filter((part) => (length += part.length) <= fieldLengthMax)
}

function distinct(words: Int32Array): Set<number> {
  const ids = new Set<number>()
  for (const word of words) {
    if (word !== sentenceBreak && word < fieldMark) ids.add(word)
  }
  return ids
}

/** 64-bit hash and length of a text, to detect changes. Storing the text itself would double the index. */
function signatureOf(texts: string[][]): string {
  const text = texts.map((parts) => parts.join('\u0001')).join('\u0002')
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
    b ^= b >>> 13
  }
  return `${a >>> 0}:${b >>> 0}:${text.length}`
}

/** FNV-1a of bytes. */
function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 | 0
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash
}

// MiniSearch marks the members that subclasses may use (`protected` in its types) with an underscore.
// oxlint-disable no-underscore-dangle

/** The postings of one term: for each field (an index into `searchFields`), entry numbers and frequencies. */
type Postings = ReadonlyMap<number, ReadonlyMap<number, number>>

/** The tokens of one document, a list for each of `searchFields`. */
interface TermDocument {
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
class TermIndex extends MiniSearch<TermDocument> {
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
    if (entry >= this.#slotOfEntry.length) this.#slotOfEntry = growArray(this.#slotOfEntry)
    this.#slotOfEntry[entry] = document.slot
    const first = document.slot * searchFields.length
    if (first + searchFields.length > this.#lengths.length) this.#lengths = growArray(this.#lengths, first * 2)
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
