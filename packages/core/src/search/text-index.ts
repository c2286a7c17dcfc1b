import SearchableMap from 'minisearch/SearchableMap'
import { Census } from './census.ts'
import { hashStem } from './words/count-stems.ts'
import { growArray } from './postings/grow-array.ts'
import { type SearchDocument, searchFields, type SearchTexts } from './search-document.ts'
import { SlotPostings } from './postings/slot-postings.ts'
import { addWeights, type fieldRules, type TermWeights } from './words/term-vector.ts'
import { fieldLengthMax, fieldMark, isStopWord, sentenceBreak, tokenize, tokenizeSentences } from './words/tokenize.ts'
import { TypoDictionary } from './words/typo-dictionary.ts'
import { Vocabulary } from './words/vocabulary.ts'
import { WordLists } from './word-lists.ts'

/**
 * An index of the words of all skills: which skills contain a word, which words a skill contains, and corrections of
 * misspellings. The index includes private skills, so searches read words only through a `Lexicon`.
 */
export class TextIndex {
  readonly vocabulary = new Vocabulary()
  readonly typos = new TypoDictionary((id) => this.vocabulary.wordOf(id))
  /** Word statistics of the two public audiences. Skills with named readers are in neither census. */
  readonly censuses = { guests: new Census(), users: new Census() }
  readonly #censusOf: (Census | undefined)[] = []
  readonly #words = new WordLists()
  /** By slot: the {@link Signature} of its document. */
  #signatures = new Int32Array(1024)
  /** The words by prefix: MiniSearch's radix tree. */
  readonly #prefixes = new SearchableMap<number>()
  /** By word; a posting's byte has the field and the frequency. A word that is in several fields has several postings. */
  readonly #postings = new SlotPostings()
  #lengths = new Uint16Array(1024)
  /** By word id: the hash of the word's stem, or 0 for a stop word. */
  #stems = new Int32Array(1024)

  /**
   * Stores the text of a skill in a slot, replacing the old text. Does nothing and returns false if text, content and
   * audience are unchanged.
   */
  put(slot: number, document: SearchDocument): boolean {
    const texts = textsOf(document)
    const signature = signatureOf(document, texts)
    if (this.#words.has(slot) && signature.every((part, i) => this.#signatures[slot * signatureLength + i] === part))
      return false
    this.remove(slot)
    const sentences = texts.map((text) => text.flatMap((part) => tokenizeSentences(part)))
    sentences[1] = [tokenize(document.owner)]
    const words = this.#toWords(sentences)
    this.#putPostings(slot, words)
    this.#words.set(slot, words)
    this.#censusOf[slot] = document.audience === 'readers' ? undefined : this.censuses[document.audience]
    this.#censusOf[slot]?.count(words, 1)
    this.#setSignature(slot, signature)
    return true
  }

  /** Removes the text in a slot. */
  remove(slot: number): void {
    if (!this.#words.has(slot)) return
    const words = this.#words.read(slot)
    this.#postings.remove(slot)
    this.#censusOf[slot]?.count(words, -1)
    this.#censusOf[slot] = undefined
    for (const id of distinctWords(words)) {
      if (this.vocabulary.countOf(id) === 1) this.#removeWord(id)
      this.vocabulary.release(id)
    }
    this.#words.remove(slot)
  }

  /** Number of tokens per field: `searchFields.length` numbers for each slot. */
  get lengths(): Uint16Array {
    return this.#lengths
  }

  /** The ids of the words that begin with a prefix, in no particular order. */
  idsWithPrefix(prefix: string): Iterable<number> {
    return this.#prefixes.atPrefix(prefix).values()
  }

  /** The postings of a word; the next call overwrites them. */
  readPostings(id: number): WordPostings {
    const count = this.#postings.read(toStemKey(id))
    return { count, slots: this.#postings.slots, bytes: this.#postings.bytes }
  }

  /** The slots with a word, in one field or in any, in a new array; may contain a slot several times. */
  slotsWith(id: number, onlyField?: number): Int32Array {
    const { count, slots, bytes } = this.readPostings(id)
    const all = slots.subarray(0, count)
    return onlyField === undefined ? all.slice() : all.filter((_, i) => fieldOf(bytes[i]!) === onlyField)
  }

  /** The words of a slot in order, with marks between fields and sentences; the next call overwrites them. */
  wordsAt(slot: number): Int32Array {
    return this.#words.read(slot)
  }

  /** The hash of a word's stem; 0 for a stop word. */
  stemOf(id: number): number {
    return this.#stems[id] ?? 0
  }

  /**
   * The weights of the terms in a slot's short texts (name, description, keywords and others). With `hasContent`,
   * headings and summary are left out, because the content has the same terms. A skill without content, such as a stub,
   * is found by its headings and summary, too.
   */
  weightsAt(slot: number, { hasContent }: { hasContent: boolean }): TermWeights {
    const weights: TermWeights = new Map()
    const words = this.#words.read(slot)
    let counts = new Map<number, number>()
    let length = 0
    let field: (typeof searchFields)[number] = 'name'
    const endField = () => {
      const isInContent = hasContent && (field === 'headings' || field === 'summary')
      if (!isInContent) addWeights(weights, ruleOfField[field], counts, length)
      counts = new Map()
      length = 0
    }
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      if (word >= fieldMark) {
        endField()
        field = searchFields[word - fieldMark]!
      } else if (word !== sentenceBreak) {
        const stem = this.#stems[word]!
        length++
        if (stem !== 0) counts.set(stem, (counts.get(stem) ?? 0) + 1)
      }
    }
    endField()
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
    for (const id of distinctWords(array)) {
      if (this.vocabulary.retain(id)) this.#addWord(id)
    }
    return array
  }

  #addWord(id: number): void {
    const word = this.vocabulary.wordOf(id)
    this.typos.add(id, word)
    this.#prefixes.set(word, id)
    if (id >= this.#stems.length) this.#stems = growArray(this.#stems, id + 1)
    this.#stems[id] = isStopWord(word) ? 0 : hashStem(word)
  }

  #removeWord(id: number): void {
    const word = this.vocabulary.wordOf(id)
    this.typos.remove(id, word)
    this.#prefixes.delete(word)
  }

  #setSignature(slot: number, signature: Signature): void {
    const at = slot * signatureLength
    if (at + signatureLength > this.#signatures.length) this.#signatures = growArray(this.#signatures, at * 2)
    this.#signatures.set(signature, at)
  }

  #putPostings(slot: number, words: Int32Array): void {
    const keys: number[] = []
    const bytes: number[] = []
    const first = slot * searchFields.length
    if (first + searchFields.length > this.#lengths.length) this.#lengths = growArray(this.#lengths, first * 2)
    let counts = new Map<number, number>()
    let length = 0
    let field = 0
    const endField = () => {
      this.#lengths[first + field] = Math.min(length, lengthMax)
      for (const [id, frequency] of counts) {
        keys.push(toStemKey(id))
        bytes.push((Math.min(frequency, frequencyMax) << fieldBits) | field)
      }
    }
    for (const word of words) {
      if (word >= fieldMark) {
        endField()
        counts = new Map()
        length = 0
        field = word - fieldMark
      } else if (word !== sentenceBreak) {
        counts.set(word, (counts.get(word) ?? 0) + 1)
        length++
      }
    }
    endField()
    this.#postings.put(slot, Int32Array.from(keys), Uint8Array.from(bytes))
  }
}

/**
 * The postings of one word: the first `count` elements of arrays. The postings of a slot are in the order of the
 * fields.
 */
interface WordPostings {
  readonly count: number
  readonly slots: Int32Array
  /** The field and the frequency of each posting: see {@link fieldOf} and {@link frequencyOf}. */
  readonly bytes: Uint8Array
}

/** Maximum stored length of a field, in tokens. A longer field counts as if it had this length. */
const lengthMax = 0xffff
const fieldBits = 3
/** Maximum stored frequency. Higher frequencies hardly increase the relevance of a word. */
const frequencyMax = 255 >>> fieldBits

/** The field of a posting: an index into `searchFields`. */
export function fieldOf(byte: number): number {
  return byte & ((1 << fieldBits) - 1)
}

/** How often the field contains the word. */
export function frequencyOf(byte: number): number {
  return byte >>> fieldBits
}

/** Spreads the ids, which are dense, over the table of terms; no two ids have the same key. */
function toStemKey(id: number): number {
  return Math.imul(id, 0x9e3779b1)
}

/** The field whose BM25F parameters each short text uses in the search by described need. */
export const ruleOfField = {
  name: 'name',
  owner: 'labels',
  keywords: 'keywords',
  description: 'description',
  headings: 'lead',
  summary: 'lead',
  category: 'labels',
} as const satisfies Record<(typeof searchFields)[number], keyof typeof fieldRules>

/** The texts of each of `searchFields`. */
export function textsOf(document: SearchTexts): string[][] {
  const name = document.displayName === document.name ? [document.name] : [document.name, document.displayName]
  const { owner, keywords, description, headings, summary, category } = document
  return [name, [owner], keywords, [description], boundParts(headings), [summary], [category]]
}

function boundParts(parts: string[]): string[] {
  let length = 0
  return parts.filter((part) => (length += part.length) <= fieldLengthMax)
}

function distinctWords(words: Int32Array): Set<number> {
  const ids = new Set<number>()
  for (const word of words) {
    if (word !== sentenceBreak && word < fieldMark) ids.add(word)
  }
  return ids
}

/**
 * Two hashes and the length of a document's texts, with its audience, and a hash of its content. The signature shows
 * whether a document has changed. Storing the texts themselves would double the index.
 */
type Signature = readonly [number, number, number, number]
const signatureLength = 4
const audiences = ['guests', 'users', 'readers'] as const

function signatureOf({ audience, content }: SearchDocument, texts: string[][]): Signature {
  const text = texts.map((parts) => parts.join('\u0001')).join('\u0002')
  let a = 0x811c9dc5 | 0
  let b = 0x9747b28c | 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
    b ^= b >>> 13
  }
  return [a, b, text.length * audiences.length + audiences.indexOf(audience), content ? hashContent(content) : 0]
}

/** FNV-1a of bytes. */
function hashContent(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 | 0
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash
}
