import { findFirstIndex, isWithin, type Match } from './spans.ts'
import { regexWith } from './regex.ts'

export interface Heading {
  readonly title: string
  /** 1 for the top heading to 6, and 7 for a line in bold. */
  readonly level: number
  /** The parent: the heading above with a smaller level number. */
  readonly parent: Heading | undefined
}

/** A text with its lines and, for Markdown, its headings, fences and comments. Everything is computed on first use. */
export class Document {
  readonly text: string
  readonly isMarkdown: boolean
  #starts: readonly number[] | undefined
  #outline: Outline | undefined
  #unseen: readonly Match[] | undefined

  constructor(text: string, isMarkdown: boolean) {
    this.text = text
    this.isMarkdown = isMarkdown
  }

  get lineCount(): number {
    return this.#lineStarts.length
  }

  /** The line of an offset, from 1. */
  toLine(offset: number): number {
    const starts = this.#lineStarts
    return findFirstIndex(starts.length, (index) => starts[index]! > offset)
  }

  lineStart(line: number): number {
    return this.#lineStarts[line - 1]!
  }

  /** A line without its line end, truncated to `charactersMax`; empty if it does not exist. */
  line(line: number, charactersMax = 1000): string {
    const start = this.#lineStarts[line - 1]
    if (start === undefined) return ''
    const end = Math.min(this.#lineStarts[line] ?? this.text.length, start + charactersMax)
    return this.text.slice(start, end).trimEnd()
  }

  /** The headings above a line, nearest first. */
  headings(line: number): Heading[] {
    const all: Heading[] = []
    for (let heading = this.#outlined.headingOf[line - 1]; heading; heading = heading.parent) all.push(heading)
    return all
  }

  /** The line that opens the fence around a line, or 0. */
  fence(line: number): number {
    return this.#outlined.fenceOf[line - 1] ?? 0
  }

  /** Whether a position is invisible on the rendered page: in a comment or an element that is not displayed. */
  isUnseen(offset: number): boolean {
    this.#unseen ??= this.isMarkdown ? findUnseen(this.text).filter(({ start }) => !this.isCode(start)) : []
    return isWithin(this.#unseen, offset)
  }

  /** Whether a position is displayed as code: in a fence, or between backticks on its line. */
  isCode(offset: number): boolean {
    const line = this.toLine(offset)
    if (this.fence(line) > 0) return true
    const before = this.text.slice(Math.max(this.lineStart(line), offset - 1000), offset)
    return this.isMarkdown && before.split('`').length % 2 === 0
  }

  get #lineStarts(): readonly number[] {
    this.#starts ??= findLineStarts(this.text)
    return this.#starts
  }

  get #outlined(): Outline {
    this.#outline ??= outlineDocument(this)
    return this.#outline
  }
}

/** `\n`, `\r\n` and `\r` each end a line. */
function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    return starts
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1)
  }
  return starts
}

/** The heading of each line, and the line that opens its fence, or 0. */
interface Outline {
  readonly headingOf: (Heading | undefined)[]
  readonly fenceOf: Uint32Array
}

const fencePattern = /^\s{0,12}(?:[-*+>]\s+)?(?<mark>`{3,}|~{3,})/
const headingPattern = /^\s{0,3}(?<marks>#{1,6})\s+(?<title>\S.{0,200})/
/** A line in bold counts as a heading below all real headings. */
const boldPattern = /^\s{0,3}(?:\*\*|__)(?<title>[^*_]{1,100})(?:\*\*:?|__:?|:\*\*)\s*$/
const boldLevel = 7

/**
 * Finds headings and fences as leniently as an agent reads them. A Markdown parser would take longer: over 1,200 real
 * SKILL.md this takes 0.2 ms each, `marked` 1.2 ms without positions, `mdast-util-from-markdown` 11 ms; and a hostile
 * text of 1 MB of backticks takes 3 ms, against 4 s and 80 s.
 */
function outlineDocument(document: Document): Outline {
  const result: Outline = { headingOf: [], fenceOf: new Uint32Array(document.lineCount) }
  if (!document.isMarkdown) return result
  let heading: Heading | undefined
  let fence = 0
  let fenceMark = ''
  for (let line = 1; line <= document.lineCount; line++) {
    // Fast path: most lines begin with a letter, and are neither a heading nor a fence.
    markPattern.lastIndex = document.lineStart(line)
    if (markPattern.test(document.text)) {
      const text = document.line(line, 240)
      const mark = fencePattern.exec(text)?.groups!.mark
      const found = fence === 0 && !mark ? (headingPattern.exec(text) ?? boldPattern.exec(text)) : undefined
      if (fence === 0 && mark) [fence, fenceMark] = [line, mark]
      else if (mark?.startsWith(fenceMark)) fence = 0
      else if (found) {
        const level = found.groups!.marks?.length ?? boldLevel
        while (heading && heading.level >= level) heading = heading.parent
        heading = { title: found.groups!.title!, level, parent: heading }
      }
    }
    result.headingOf.push(heading)
    result.fenceOf[line - 1] = fence
  }
  return result
}

const markPattern = /[ \t]*[#`~*_\-+>]/y

const unseenPattern = regexWith('gim')`<!--|<[a-z]{1,10}\s[^<>]{0,80}(display\s?:\s?none|
  visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?!\.)|color\s?:\s?(white|#fff\b|#ffffff\b|transparent))
  [^<>]{0,80}>|^\[(//|comment)\]:\s?#\s?(?=\()`
const unseenCharactersMax = 4096

/** HTML comments, hidden elements and Markdown comments (`[//]: # (...)`), in order and without overlaps. */
function findUnseen(text: string): Match[] {
  const spans: Match[] = []
  let end = 0
  for (const { 0: opening, index } of text.matchAll(unseenPattern)) {
    if (index < end) continue
    const from = index + opening.length
    const [close, keep] =
      opening === '<!--' ? ['-->', Infinity] : [opening.startsWith('[') ? '\n' : '</', unseenCharactersMax]
    const found = text.indexOf(close, from)
    end = Math.min(found === -1 ? text.length : found + close.length, from + keep)
    spans.push({ start: index, end })
  }
  return spans
}
