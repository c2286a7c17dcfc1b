import { anchorCharactersMin, toRarity } from './anchors.ts'

/** Lower-case texts of which every match of an expression holds one, and how far they may be from its ends. */
export interface Need {
  readonly texts: readonly string[]
  /** The most characters of a match before the end of such a text, and behind its beginning. */
  readonly before: number
  readonly behind: number
}

/** A part of an expression: the most characters that it takes, and what each of its matches holds. */
interface Part {
  readonly width: number
  readonly needs: readonly Need[]
  /** Set where it is one character that stands for itself. */
  readonly character?: string
}

/** A longer list stands everywhere: to look for it costs more than it spares. */
const textsMax = 24
/** How many of its needs a choice between parts keeps. */
const sharedNeedsMax = 3

/** What every match of an expression holds, as far as that can be told. No width of it may be `Infinity`. */
export function toNeeds({ source }: RegExp): readonly Need[] {
  return new Reader(source.replace(/\\.|[A-Z]/g, (found) => (found.length === 1 ? found.toLowerCase() : found))).read()
    .needs
}

const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:[*+]|\?|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\})\??/y
/** An escape that stands for one character, and is no class and no place. */
const literalEscapePattern = /\\(?<character>[^a-z\d])/iy
const escapePattern = /\\(?:u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])/iuy
const edges: ReadonlySet<string> = new Set(['\\b', '\\B', '^', '$'])
const nothing: Part = { width: 0, needs: [] }
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
    return { width: Math.max(...parts.map(({ width }) => width)), needs: join(parts) }
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
    if (this.#read(classPattern)) return anything
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
  return { width: 1, needs: [], character }
}

function repeat({ width, needs }: Part, least: number, most: number): Part {
  const more = width === 0 ? 0 : width * (most - 1)
  if (least === 0) return { width: width === 0 ? 0 : width * most, needs: [] }
  const spread = needs.map(({ texts, before, behind }) => ({ texts, before: before + more, behind: behind + more }))
  return { width: width + more, needs: spread }
}

/** Parts that follow each other. Characters in a row are one text. */
function chain(parts: readonly Part[]): Part {
  const total = parts.reduce((sum, { width }) => sum + width, 0)
  const needs: Need[] = []
  let at = 0
  let run = ''
  const endRun = () => {
    if (run.length >= anchorCharactersMin) needs.push({ texts: [run], before: at, behind: total - at + run.length })
    run = ''
  }
  for (const part of parts) {
    if (part.character === undefined && part.width > 0) endRun()
    for (const { texts, before, behind } of part.needs) {
      needs.push({ texts, before: at + before, behind: behind + total - at - part.width })
    }
    run += part.character ?? ''
    at += part.width
  }
  endRun()
  return { width: total, needs }
}

/** What a choice between parts needs: a need of the first or a need of the second, the rarest of each first. */
function join(parts: readonly Part[]): readonly Need[] {
  if (parts.length === 1) return parts[0]!.needs
  const sorted = parts.map(({ needs }) => needs.toSorted((a, b) => toRarityOf(b) - toRarityOf(a)))
  const count = Math.min(sharedNeedsMax, ...sorted.map(({ length }) => length))
  const joined = Array.from({ length: count }, (_, index) => ({
    texts: [...new Set(sorted.flatMap((needs) => needs[index]!.texts))],
    before: Math.max(...sorted.map((needs) => needs[index]!.before)),
    behind: Math.max(...sorted.map((needs) => needs[index]!.behind)),
  }))
  return joined.filter(({ texts }) => texts.length <= textsMax)
}

function toRarityOf({ texts }: Need): number {
  return Math.min(...texts.map(toRarity))
}
