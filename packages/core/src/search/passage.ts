import { cutAtWord, findBody, listSentences, type Sentence } from '@skillstead/skill-format'
import { hashStem } from './words/count-stems.ts'
import type { SearchMatch } from './explanation.ts'
import { bodyLengthMax } from './words/term-vector.ts'
import { isIdeographic, isStopWord, tokenize, ideographs } from './words/tokenize.ts'

/** The part of a SKILL.md that answers a query best. */
export interface Passage {
  /** Plain text, at most {@link passageLengthMax} UTF-16 units. */
  readonly text: string
  /** Start and end of the words that match, in UTF-16 units, in order and without overlaps. */
  readonly highlights: [start: number, end: number][]
  /** Words of the whole body that match, as the search reads them. */
  readonly terms: readonly string[]
}

/** Weights of terms by the hashes of their stems: a rare term describes a passage better than a frequent term. */
export type TermValues = ReadonlyMap<number, number>

/** The values of a query's terms. Words that replace misspelled terms have the lowest value. */
export function valuesOf(values: TermValues, matches: readonly SearchMatch[]): TermValues {
  const lowest = values.size > 0 ? Math.min(...values.values()) : 1
  const others = matches.flatMap(({ terms }) => terms.map((word) => [hashStem(word), lowest] as const))
  return new Map([...others, ...values])
}

const passageLengthMax = 160
/** Maximum number of words in `terms` of a passage. */
const termsMax = 32
/** Maximum matches of a document that are compared, which limits the work for a document of matches only. */
const passageMatchesMax = 1000
/** Maximum number of matches of one long sentence at which a part is tried as the passage, which limits the work. */
const startsMax = 300
/** Weights of the kinds of text: code and headings explain less than a sentence with the same words. */
const shareOfKind = { prose: 1, heading: 0.7, code: 0.5 } as const satisfies Record<Sentence['kind'], number>

/** A word of a sentence that matches a term. */
interface Match {
  readonly start: number
  readonly end: number
  readonly hash: number
}

/** Finds passages in several documents for one query. Caches the terms of words, since documents share most words. */
export class PassageFinder {
  readonly #values: TermValues
  /** By word as written: the hash of its stem and its token, if that is a term of the query. */
  readonly #known = new Map<string, { hash: number; token: string } | undefined>()

  constructor(values: TermValues) {
    this.#values = values
  }

  /** The best passage of a SKILL.md; undefined if its body contains none of the terms. */
  find(skillMd: string): Passage | undefined {
    const sentences = listSentences(findBody(skillMd).body.slice(0, bodyLengthMax))
    const terms = new Set<string>()
    let best: { value: number; at: number; matches: Match[] } | undefined
    let left = passageMatchesMax
    for (const [at, { text, kind }] of sentences.entries()) {
      const matches = this.#match(text, terms)
      const value = this.#valueOf(matches) * shareOfKind[kind]
      if (value > (best?.value ?? 0)) best = { value, at, matches }
      left -= matches.length
      if (left <= 0) break
    }
    if (!best) return undefined
    const text = this.#cut(sentences, best.at, best.matches)
    return { text, highlights: toHighlights(this.#match(text, new Set())), terms: [...terms].slice(0, termsMax) }
  }

  /**
   * A passage: a sentence with the sentences that follow it, a heading with the sentence below it, or the part of a
   * long sentence with the most valuable matches.
   */
  #cut(sentences: readonly Sentence[], at: number, matches: readonly Match[]): string {
    let { text } = sentences[at]!
    for (let last = at; ; last++) {
      const [{ kind, continues }, next] = [sentences[last]!, sentences[last + 1]]
      if (!next || !(kind === 'heading' ? next.kind === 'prose' : continues)) break
      const longer = `${text}${kind === 'heading' && /[\p{L}\p{N}]$/u.test(text) ? ':' : ''} ${next.text}`
      if (longer.length > passageLengthMax) break
      text = longer
    }
    if (text.length <= passageLengthMax) return text
    const room = passageLengthMax - 2 * ellipsis.length
    let best = { value: 0, start: 0, end: 0 }
    for (const [i, { start }] of matches.slice(0, startsMax).entries()) {
      const near = matches.slice(i, i + room).filter(({ end }) => end - start <= room)
      const value = this.#valueOf(near)
      if (value > best.value) best = { value, start, end: near.at(-1)!.end }
    }
    // Half of the room that the matches leave free is used for the text before the first match.
    const from = Math.max(0, best.start - Math.floor((room - (best.end - best.start)) / 2))
    const start = toWordStart(text, Math.min(from, text.length - room), best.start)
    const part = cutAtWord(text.slice(start), room)
    return `${start > 0 ? ellipsis : ''}${part}${start + part.length < text.length ? ellipsis : ''}`
  }

  #valueOf(matches: readonly Match[]): number {
    const hashes = new Set(matches.map(({ hash }) => hash))
    return [...hashes].reduce((sum, hash) => sum + this.#values.get(hash)!, 0)
  }

  #match(text: string, terms: Set<string>): Match[] {
    const matches: Match[] = []
    for (const { 0: word, index } of text.matchAll(passageWordPattern)) {
      for (const [start, end] of isIdeographic(word) ? ideographPairs(word) : [[0, word.length] as const]) {
        const found = this.#read(word.slice(start, end))
        if (!found) continue
        matches.push({ start: index + start, end: index + end, hash: found.hash })
        terms.add(found.token)
      }
    }
    return matches
  }

  #read(word: string): { hash: number; token: string } | undefined {
    if (this.#known.has(word)) return this.#known.get(word)
    const found = (isIdeographic(word) ? [word] : tokenize(word))
      .filter((token) => !isStopWord(token))
      .map((token) => ({ hash: hashStem(token), token }))
      .find(({ hash }) => this.#values.has(hash))
    this.#known.set(word, found)
    return found
  }
}

const ellipsis = '…'
const passageWordPattern = new RegExp(
  `(?<!\\w)\\.net\\b|\\.(?:NET|Net)\\b|[${ideographs}]+|(?:(?![${ideographs}])[\\p{L}\\p{N}\\p{M}])+(?:['’]\\p{L}+)*(?:\\+\\+|#)?`,
  'gu',
)

/** The ranges of the tokens of a run of characters without spaces: its overlapping pairs, and its last character. */
function ideographPairs(run: string): (readonly [number, number])[] {
  const starts: number[] = []
  let at = 0
  for (const character of run) {
    starts.push(at)
    at += character.length
  }
  const pairs = starts.slice(1).map((_, i) => [starts[i]!, starts[i + 2] ?? at] as const)
  return [...pairs, [starts.at(-1)!, at]]
}

/** The start of a word at or after a position, but not after `latest`. */
function toWordStart(text: string, from: number, latest: number): number {
  if (from === 0) return 0
  const space = text.indexOf(' ', from - 1)
  return space === -1 || space >= latest ? latest : space + 1
}

function toHighlights(matches: readonly Match[]): [number, number][] {
  const merged: [number, number][] = []
  for (const { start, end } of matches) {
    const last = merged.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else merged.push([start, end])
  }
  return merged
}
