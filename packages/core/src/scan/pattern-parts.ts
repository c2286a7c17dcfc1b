import { anchorCharactersMin, toRarity } from './anchors.ts'

/** A lower-case text in a match, and how far it may be from its ends. */
interface NeededText {
  readonly text: string
  /** The most characters of the match before the end of the text, and behind its beginning. */
  readonly before: number
  readonly behind: number
  /** How much of it may lie outside of the match: none of what an expression tells, nearly all of an anchor. */
  readonly outside?: number
}

/** Texts of which every match of an expression holds one, no farther from its ends than it says. */
export type Need = readonly NeededText[]

/** A part of an expression: the most characters that it takes, and what each of its matches holds. */
interface Part {
  readonly width: number
  readonly needs: readonly Need[]
  /** All texts that it may be, where these are few; it has no other needs then. */
  readonly exact?: readonly string[]
}

/** A longer list stands everywhere. */
const textsMax = 100
/** How many texts a part may be for each of them to be written out, and two parts with several of them together. */
const exactMax = 16
const productMax = 6
/** How many of its needs a choice between parts keeps. */
const sharedNeedsMax = 3

/** What every match of an expression holds, as far as that can be told. No width of it may be `Infinity`. */
export function toNeeds({ source }: RegExp): readonly Need[] {
  const lower = source.replace(/\\.|[A-Z]/g, (found) => (found.length === 1 ? found.toLowerCase() : found))
  return toAllNeeds(new Reader(lower).read())
}

const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:[*+]|\?|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y
/** An escape that stands for one character, and is no class and no place. */
const literalEscapePattern = /\\(?<character>[^a-z\d])/iy
const escapePattern = /\\(?:u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])/iuy
const edges: ReadonlySet<string> = new Set(['\\b', '\\B', '^', '$'])
const nothing: Part = { width: 0, needs: [], exact: [''] }
const anything: Part = { width: 1, needs: [] }

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Alternatives, up to a bracket or the end. */
  read(): Part {
    const parts = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      parts.push(this.#sequence())
    }
    return choose(parts)
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      const one = this.#one()
      const [least, most] = this.#times()
      if (least === 1 && most === 1) parts.push(one)
      else parts.push(repeat(one, least, most))
    }
    return chain(parts)
  }

  #one(): Part {
    const characters = this.#read(classPattern)?.[0]
    if (characters) return toClass(characters)
    const group = this.#read(groupPattern)
    if (group) {
      const part = this.read()
      this.#at++
      return group.groups!['look'] ? nothing : part
    }
    const literal = this.#read(literalEscapePattern)
    if (literal) return toCharacter(literal.groups!['character']!)
    const escape = this.#read(escapePattern)?.[0]
    if (escape) return edges.has(escape) ? nothing : anything
    const character = this.#source[this.#at++]!
    if (edges.has(character)) return nothing
    return character === '.' ? anything : toCharacter(character)
  }

  #times(): [least: number, most: number] {
    const found = this.#read(quantifierPattern)
    if (!found) return [1, 1]
    const { least, comma, most } = found.groups!
    if (found[0].startsWith('?')) return [0, 1]
    if (!least) return [Number(found[0].startsWith('+')), Infinity]
    return [Number(least), comma ? Number(most || Infinity) : Number(least)]
  }

  #read(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}

function toCharacter(character: string): Part {
  return { width: 1, needs: [], exact: [character] }
}

/** A class of a few characters is one of them, if it has no ranges. */
function toClass(source: string): Part {
  const characters = source.slice(1, -1).replace(/\\([^a-z\d])/gi, '$1')
  const isRange = /^$|^\^|\\[a-z\d]|[^]-[^]/i.test(characters)
  if (isRange || characters.length > exactMax) return anything
  return { width: 1, needs: [], exact: [...new Set(characters.split(''))] }
}

function repeat(part: Part, least: number, most: number): Part {
  const { width, exact } = part
  if (least === 0) {
    const all = width === 0 ? 0 : width * most
    return most === 1 && exact ? { width, needs: [], exact: [...new Set(['', ...exact])] } : { width: all, needs: [] }
  }
  const more = width === 0 ? 0 : width * (most - 1)
  return { width: width + more, needs: toAllNeeds(part).map((need) => spread(need, more, more)) }
}

function toAllNeeds({ needs, exact }: Part): readonly Need[] {
  return exact ? toNeedOf(exact, 0, 0) : needs
}

/** What a part needs that is one of some texts, with so much of a match before and behind it. */
function toNeedOf(texts: readonly string[], before: number, behind: number): Need[] {
  if (texts.some(({ length }) => length < anchorCharactersMin)) return []
  // A text that holds another is found with it.
  const least = texts.filter((text) => !texts.some((other) => other !== text && text.includes(other)))
  const all = texts.map((whole) => {
    const text = least.find((each) => whole.includes(each))!
    const at = whole.indexOf(text)
    return { text, before: before + at + text.length, behind: behind + whole.length - at }
  })
  return [unite(all)]
}

/** A need of a part, seen from the ends of what it is a part of. */
export function spread(need: Need, before: number, behind: number): Need {
  return need.map((each) => ({ text: each.text, before: each.before + before, behind: each.behind + behind }))
}

/** Parts that follow each other; of those in a row whose texts are known all together are written out. */
function chain(parts: readonly Part[]): Part {
  const total = parts.reduce((sum, { width }) => sum + width, 0)
  const needs: Need[] = []
  let at = 0
  let run: readonly string[] = ['']
  let runAt = 0
  for (const part of parts) {
    const { exact } = part
    if (exact && isFew(run.length, exact.length)) run = run.flatMap((text) => exact.map((each) => text + each))
    else {
      needs.push(...toNeedOf(run, runAt, total - at))
      for (const need of part.needs) needs.push(spread(need, at, total - at - part.width))
      run = exact ?? ['']
      runAt = exact ? at : at + part.width
    }
    at += part.width
  }
  if (runAt === 0 && parts.every(({ exact }) => exact)) return { width: total, needs: [], exact: run }
  return { width: total, needs: [...needs, ...toNeedOf(run, runAt, 0)] }
}

function isFew(some: number, others: number): boolean {
  return some === 1 || others === 1 || some * others <= productMax
}

/** One of some parts: it may be any of their texts, if all are known. */
function choose(parts: readonly Part[]): Part {
  if (parts.length === 1) return parts[0]!
  const width = Math.max(...parts.map((part) => part.width))
  const exact = [...new Set(parts.flatMap((part) => part.exact ?? []))]
  if (exact.length <= exactMax && parts.every((part) => part.exact)) return { width, needs: [], exact }
  return { width, needs: join(parts.map(toAllNeeds)) }
}

/** What a choice between parts needs: a need of the first or a need of the second, the rarest of each first. */
function join(parts: readonly (readonly Need[])[]): readonly Need[] {
  const sorted = parts.map((needs) => needs.toSorted((a, b) => toRarityOf(b) - toRarityOf(a)))
  const count = Math.min(sharedNeedsMax, ...sorted.map(({ length }) => length))
  const joined = Array.from({ length: count }, (_, index) => unite(sorted.flatMap((needs) => needs[index]!)))
  return joined.filter(({ length }) => length <= textsMax)
}

/** Each text once, as far away as it may be anywhere. */
function unite(texts: Need): Need {
  const byText = new Map<string, NeededText>()
  for (const { text, before, behind } of texts) {
    const other = byText.get(text)
    byText.set(text, {
      text,
      before: Math.max(before, other?.before ?? 0),
      behind: Math.max(behind, other?.behind ?? 0),
    })
  }
  return [...byText.values()]
}

function toRarityOf(need: Need): number {
  return Math.min(...need.map(({ text }) => toRarity(text)))
}
