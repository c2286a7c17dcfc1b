import { readFenceName } from '../code/parts.ts'
import type { Document, Heading } from '../text/document.ts'
import { regex } from '../text/regex.ts'

/** A passage with everything around it that shows whether it is an instruction. */
export interface Passage {
  /** The line, its parts around the position, and the parts of the sentence around it, without Markdown marks. */
  readonly line: string
  readonly lineBefore: string
  readonly lineAfter: string
  readonly before: string
  readonly after: string
  /** The line that introduces the list, table or fence. */
  readonly leadIn: string
  readonly lineAbove: string
  readonly lineBelow: string
  readonly headings: readonly Heading[]
  /** In a fence, the name of its language. */
  readonly language: string
  /** In a string of a fence, the code before the string on its line, and the string up to the end of the line. */
  readonly call: string | undefined
  readonly string: string
  /** Whether the passage is neither in a program nor displayed as code. */
  readonly isProse: boolean
  readonly isQuoted: boolean
  readonly isInBackticks: boolean
  readonly isInTable: boolean
  readonly isInFence: boolean
  readonly isInItem: boolean
}

const sentenceCharactersMax = 160

export function toPassageAround(document: Document, from: number, end: number): Passage {
  const { text } = document
  const offset = skipMarks(text, from, end)
  const number = document.toLine(offset)
  const line = document.line(number)
  const start = document.lineStart(number)
  const column = offset - start
  const fence = document.fence(number)
  const lineAbove = document.line(number - 1)
  const isInItem = itemPattern.test(line)
  // The sentence may begin on the line above, unless this line begins a block of its own.
  const isNew = isInItem || fence > 0 || line.startsWith('|') || headingPattern.test(line)
  const lead = isNew ? '' : paragraphEnd(lineAbove)
  const raw = `${lead}${text.slice(Math.max(start, offset - sentenceCharactersMax), offset)}`
  const behind = text.slice(end, end + sentenceCharactersMax).split(/\r?\n\s*\r?\n/, 1)[0]!
  const quoteAt = fence > 0 ? findQuote(line, column) : -1
  return {
    line,
    lineBefore: line.slice(0, Math.max(0, column)),
    lineAfter: line.slice(Math.max(0, column) + (end - offset)),
    isProse: document.isMarkdown && fence === 0 && !document.isCode(offset),
    before: raw.replace(marksPattern, ' ').split(sentenceEndPattern).at(-1)!,
    after: behind.replace(marksPattern, ' ').split(sentenceEndPattern, 1)[0]!,
    leadIn: findLeadIn(document, number, fence),
    lineAbove,
    lineBelow: document.line(number + 1, 300),
    headings: document.headings(number),
    language: fence > 0 ? readFenceName(document, fence) : '',
    call: quoteAt === -1 ? undefined : line.slice(0, quoteAt),
    string: quoteAt === -1 ? '' : line.slice(quoteAt + 1),
    // In a program, quotes are no quotation; but a line that is only a string is an entry of a list.
    isQuoted:
      !document.isMarkdown || fence > 0 ? stringLinePattern.test(line) : isInQuotes(line, column) || /^\s*>/.test(line),
    isInBackticks: document.isCode(offset),
    isInTable: /^\s*\|/.test(line),
    isInFence: fence > 0,
    isInItem,
  }
}

/** Skips the spaces and quotes at the beginning of a match. Returns the offset of the match if it has nothing else. */
function skipMarks(text: string, from: number, end: number): number {
  let at = from
  while (at < end && ' \t`"'.includes(text[at]!)) at++
  return at === end ? from : at
}

const itemPattern = /^\s*(?:[-*+]|\d{1,3}[.)])\s/
const headingPattern = /^\s*#{1,6}\s/
const marksPattern = /[*_`~]+/g
const sentenceEndPattern = /[.!?](?:\s|$)|;|(?<!\d)\u2013/

function paragraphEnd(line: string): string {
  const isText = line !== '' && !headingPattern.test(line) && !/[.:!?|]\s*$/.test(line) && !/^\s*(?:```|~~~)/.test(line)
  return isText ? `${line.slice(-sentenceCharactersMax)} ` : ''
}

const stringLinePattern = regex`^\s*([-*]\s|"[\w -]{1,40}"\s?:\s?)?\[?[rbu]{0,2}
  (?<quote>["'\x60])((?!\k<quote>).){1,400}\k<quote>\s*\]?[,;]?\s*(#.*|//.*)?$`

/** Whether the position is between quotation marks: an odd number before it, and one after it. */
function isInQuotes(line: string, column: number): boolean {
  const before = line.slice(0, column)
  return quotes.some(([open, close]) => {
    const opened = before.split(open).length - 1 - (open === close ? 0 : before.split(close).length - 1)
    return opened % 2 === 1 && line.indexOf(close, column) !== -1
  })
}

const quotes = [
  ['"', '"'],
  ['`', '`'],
  ['\u201c', '\u201d'],
  ['\u00ab', '\u00bb'],
  ['\u300c', '\u300d'],
] as const

/** The place of the quotation mark that opens the string around a column of a line of code, or -1. */
function findQuote(line: string, column: number): number {
  let opened = -1
  for (let at = 0; at < column; at++) {
    const letter = line[at]!
    if (letter === '\\') at++
    else if (opened !== -1 && letter === line[opened]) opened = -1
    else if (opened === -1 && (letter === '"' || letter === "'")) opened = at
  }
  return opened !== -1 && line.indexOf(line[opened]!, column) !== -1 ? opened : -1
}

const leadInLinesMax = 14

/** The nearest line above and outside of the list, table or fence that introduces it, for example with a colon. */
function findLeadIn(document: Document, number: number, fence: number): string {
  if (fence > 0) return nearestText(document, fence - 1)
  const line = document.line(number)
  if (!itemPattern.test(line) && !/^\s*[|>]/.test(line) && !/^\s*["'`]/.test(line)) return ''
  const indent = line.search(/\S/)
  for (let above = number - 1; above > Math.max(0, number - leadInLinesMax); above--) {
    const text = document.line(above, 300)
    if (headingPattern.test(text)) return ''
    const isOuter = itemPattern.test(text) && text.search(/\S/) < indent
    if (isOuter || (text !== '' && !itemPattern.test(text) && !/^\s*[|>]/.test(text))) return text
  }
  return ''
}

function nearestText(document: Document, from: number): string {
  for (let line = from; line > Math.max(0, from - 3); line--) {
    const text = document.line(line, 300)
    if (text.trim() !== '') return headingPattern.test(text) ? '' : text
  }
  return ''
}
