import type { ViewerKeys } from '../visibility/audience.ts'
import type { DocumentTable } from './document-table.ts'
import { Lexicon } from './lexicon.ts'
import type { TextIndex } from './text-index.ts'
import { isIdeographic, queryLengthMax, queryTermsMax, tokenize } from './words/tokenize.ts'

/** Sources of completions. */
interface Sources {
  table: DocumentTable
  text: TextIndex
}

/** Maximum number of words with a prefix that are examined, the most frequent first. */
const completionWordsMax = 64
/** Minimum number of visible skills that contain a suggested word. */
const wordCountMin = 2
/** Counting the skills with a word stops at this number: higher counts would not improve the order. */
const wordCountMax = 200

/**
 * Completes the text of a search box: names of skills that begin with the text, words that begin with the last word,
 * then names that contain such words. Earlier words restrict the result to skills that contain all earlier words.
 */
export function completeQuery(q: string, limit: number, viewer: ViewerKeys, { table, text }: Sources): string[] {
  const typed = [...new Set(tokenize(q.slice(0, queryLengthMax)))].slice(0, queryTermsMax)
  const prefix = typed.at(-1)
  if (prefix === undefined || limit < 1) return []
  const earlier = typed.slice(0, -1)
  const isSeen = table.seenBy(viewer)
  const isVisible = table.matcher(isSeen, { includeStubs: false })
  const within = earlier.length === 0 ? isVisible : slotsWithAll(earlier, text, isVisible)
  const words = wordsWith(prefix, new Lexicon(text, isSeen, viewer))
  const names = namesWith(words, { table, text }, within)
  const beginning = earlier.concat(prefix).join('-')
  const isFirst = (name: string) => name.startsWith(beginning)
  const phrases = isIdeographic(prefix) ? [] : frequentCompletions(words, text, within)
  const lead = [...earlier, ''].join(' ')
  const first = names.filter(isFirst)
  const rest = names.filter((name) => !isFirst(name))
  const kept = first.slice(0, Math.max(Math.ceil(limit / 2), limit - phrases.length))
  return [...new Set([...kept, ...phrases.map((word) => lead + word), ...rest, ...first])].slice(0, limit)
}

/** The most frequent words with a prefix; if there are none, corrections of the prefix. */
function wordsWith(prefix: string, lexicon: Lexicon): number[] {
  const ids = lexicon.idsWithPrefix(prefix, completionWordsMax)
  return ids.length > 0 ? ids : lexicon.findRepairs(prefix, completionWordsMax).map(({ id }) => id)
}

function frequentCompletions(ids: number[], text: TextIndex, within: (slot: number) => boolean): string[] {
  return ids
    .map((id) => ({ word: text.vocabulary.wordOf(id), count: countWithin(id, text, within) }))
    .filter(({ count }) => count >= wordCountMin)
    .toSorted((a, b) => b.count - a.count)
    .map(({ word }) => word)
}

function countWithin(id: number, text: TextIndex, within: (slot: number) => boolean): number {
  const slots = new Set<number>()
  for (const slot of text.slotsWith(id)) {
    if (within(slot)) slots.add(slot)
    if (slots.size === wordCountMax) break
  }
  return slots.size
}

/** Names that contain one of the words, most popular first. */
function namesWith(ids: number[], { table, text }: Sources, within: (slot: number) => boolean): string[] {
  const best = new Map<string, number>()
  for (const id of ids) {
    for (const slot of text.slotsWith(id, 0)) {
      if (!within(slot)) continue
      const name = table.nameAt(slot)
      const popularity = table.popularity[slot]!
      best.set(name, Math.max(popularity, best.get(name) ?? 0))
    }
  }
  return Array.from(best)
    .toSorted(([a, popularityA], [b, popularityB]) => popularityB - popularityA || compareByLength(a, b))
    .map(([name]) => name)
}

function compareByLength(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

function slotsWithAll(words: string[], text: TextIndex, isVisible: (slot: number) => boolean) {
  const sets = words.map((word) => new Set(text.slotsWith(text.vocabulary.idOf(word))))
  return (slot: number) => sets.every((set) => set.has(slot)) && isVisible(slot)
}
