import { Census } from './census.ts'
import { searchFields } from './search-document.ts'
import type { SearchDocument } from './search-document.ts'
import { TermIndex } from './term-index.ts'
import { fieldLengthMax, tokenize, tokenizeSentences } from './tokenize.ts'
import { TypoDictionary } from './typo-dictionary.ts'
import { Vocabulary } from './vocabulary.ts'
import { fieldMark, sentenceBreak } from './word-marks.ts'

/**
 * The words of all skills: which skills contain a word, which words a skill contains, and corrections of misspellings.
 * Includes private skills; viewers only see it through a `Lexicon`.
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

  /** Stores the text of a skill in a slot, replacing the old text; does nothing if text and audience are unchanged. */
  put(slot: number, document: SearchDocument): void {
    const texts = textsOf(document)
    const signature = `${document.visibility}:${signatureOf(texts)}`
    if (this.#signatures[slot] === signature) return
    this.remove(slot)
    const sentences = texts.map((text) => text.flatMap((part) => tokenizeSentences(part)))
    sentences[1] = [tokenize(document.owner)]
    this.terms.add({ slot, fields: sentences.map((field) => field.flat()) })
    const words = this.#toWords(sentences)
    this.#words[slot] = words
    this.#censusOf[slot] = document.visibility === 'private' ? undefined : this.censuses[document.visibility]
    this.#censusOf[slot]?.count(words, 1)
    this.#signatures[slot] = signature
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
      if (this.vocabulary.retain(id)) this.typos.add(id, this.vocabulary.wordOf(id))
    }
    return array
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
