import { stopWords } from './stop-words.ts'

/** The longest query that is looked at, in UTF-16 units; the rest is ignored. */
export const queryLengthMax = 512
/** The most terms of one query. */
export const queryTermsMax = 32
/** Longer terms are cut here, in documents and in queries alike. */
export const termLengthMax = 48
/** Longer fields are read as far as this, in UTF-16 units, so that one enormous skill cannot make publishing slow. */
export const fieldLengthMax = 20_000

/** What a query asks for. */
export interface ParsedQuery {
  /** Distinct, in the order they were typed; stop words only when there is nothing else. */
  terms: string[]
  /** The last term may be the beginning of a word: nothing was typed after it. */
  lastIsOpen: boolean
}

/** The fields of a skill that are searched, each as tokens joined by one space. */
export interface IndexText {
  name: string
  owner: string
  keywords: string
  description: string
  headings: string
  summary: string
  category: string
}

const wordPattern = /[\p{L}\p{N}\p{M}]+/gu
const ideographs = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー'
const ideographRun = new RegExp(`[${ideographs}]+|[^${ideographs}]+`, 'gu')
const isIdeograph = new RegExp(`^[${ideographs}]`, 'u')
// eslint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/
// Chinese and Japanese put between commas what English would make a sentence of.
const sentenceEnd = /[.!?;:](?=\s|$)|[\n\r。！？；：，、]+/u

/**
 * The words of a text: lower case, without accents, possessives or punctuation. Scripts that are written without spaces
 * become overlapping pairs of characters; the last character of such a run stands alone too, so that every character
 * begins a token and a query of one character can be answered by prefix.
 *
 * @example tokenize("Node.js' APIs: 图像生成") // ['node', 'js', 'apis', '图像', '像生', '生成', '成']
 */
export function tokenize(text: string): string[] {
  return wordsOf(text.slice(0, fieldLengthMax), true)
}

/** The tokens of each sentence or line, for whoever cares which words stand together. Empty sentences are left out. */
export function tokenizeSentences(text: string): string[][] {
  return text
    .slice(0, fieldLengthMax)
    .split(sentenceEnd)
    .map((sentence) => wordsOf(sentence, true))
    .filter((words) => words.length > 0)
}

/**
 * Reads what somebody typed into a search box. Never throws, whatever it is given.
 *
 * @example parseQuery('how to make a PDF') // { terms: ['make', 'pdf'], lastIsOpen: true }
 */
export function parseQuery(q: string): ParsedQuery {
  const bounded = q.slice(0, queryLengthMax)
  const words = [...new Set(wordsOf(bounded, false))]
  const telling = words.filter((word) => !stopWords.has(word))
  const terms = (telling.length > 0 ? telling : words).slice(0, queryTermsMax)
  return { terms, lastIsOpen: terms.length > 0 && terms.at(-1) === words.at(-1) && /[\p{L}\p{N}]$/u.test(bounded) }
}

/** Whether a token comes from a script without spaces: two characters of it, or one. */
export function isIdeographic(token: string): boolean {
  return isIdeograph.test(token)
}

/** The tokens of a skill's fields, for an index that splits at spaces (FTS5, `tsvector` with the `simple` dictionary). */
export function toIndexText(document: {
  name: string
  owner: string
  displayName: string
  keywords: string[]
  description: string
  headings: string[]
  summary: string
  category: string
}): IndexText {
  return {
    name: tokenize(`${document.name}\n${document.displayName}`).join(' '),
    owner: tokenize(document.owner).join(' '),
    keywords: tokenize(document.keywords.join('\n')).join(' '),
    description: tokenize(document.description).join(' '),
    headings: tokenize(document.headings.join('\n')).join(' '),
    summary: tokenize(document.summary).join(' '),
    category: tokenize(document.category).join(' '),
  }
}

function wordsOf(text: string, withRunEnds: boolean): string[] {
  const words: string[] = []
  for (const [word] of toPlainText(text).matchAll(wordPattern)) {
    if (isAscii.test(word)) words.push(word.slice(0, termLengthMax))
    else pushMixed(word, withRunEnds, words)
  }
  return words
}

function toPlainText(text: string): string {
  const folded = isAscii.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '') // accents of Latin, Greek and Cyrillic only: other scripts' marks are letters
        .normalize('NFC')
        .toLowerCase()
  return folded
    .replace(/['’]s\b/g, '')
    .replace(/['’]/g, '')
    .replace(/\b([cf])#/g, '$1sharp')
    .replace(/\bc\+\+/g, 'cpp')
}

function pushMixed(word: string, withRunEnds: boolean, words: string[]): void {
  for (const [run] of word.matchAll(ideographRun)) {
    if (!isIdeograph.test(run)) {
      words.push(run.slice(0, termLengthMax))
      continue
    }
    const characters = [...run]
    for (let i = 0; i + 1 < characters.length; i++) words.push(characters[i]! + characters[i + 1]!)
    if (withRunEnds || characters.length === 1) words.push(characters.at(-1)!)
  }
}
