/** A range of a body: a heading, or consecutive lines of text or of hidden text. */
export interface Block {
  /** `hidden` text is in a code fence or a comment. */
  readonly kind: 'heading' | 'text' | 'hidden'
  /** Offsets of its lines in {@link Blocks}, without the last line feed. */
  readonly start: number
  end: number
  /** Text of a heading, as written. */
  readonly heading?: string
  /** Plain text of a heading, cached on first use, because the conversion costs more than all other work on a body. */
  plain?: string
  /** Whether the heading is underlined. It is then also the last line of the text block before it. */
  readonly isUnderlined?: boolean
}

/** A body split into blocks, once for all functions that examine it. */
export interface Blocks {
  /** The examined part of the body, with line feeds as line ends. */
  readonly text: string
  readonly list: readonly Block[]
}

/** Maximum length of the examined part of a body. Almost every known SKILL.md is smaller. */
export const outlineCharactersMax = 256 * 1024
/** Maximum length of a line. Longer lines are truncated, which also limits the time of patterns. */
export const inlineCharactersMax = 2000

/**
 * Splits a body into blocks. Patterns are only tried on lines that begin with their mark: almost all lines are text.
 * The lexer of `marked` is not used: its time is quadratic for some documents (4 s for 64 kB of `a\n-\n`), deeply
 * nested quotes and lists overflow its stack, and it is larger than the whole client in a browser may be.
 */
export function readBlocks(body: string): Blocks {
  const head = body.slice(0, outlineCharactersMax)
  const text = head.includes('\r') ? head.replace(/\r\n?/g, '\n') : head
  const list: Block[] = []
  let comment = text.indexOf('<!--')
  for (let start = 0; start < text.length;) {
    const lineEnd = findLineEnd(text, start)
    if (comment !== -1 && comment < start) comment = text.indexOf('<!--', start)
    const isComment = comment !== -1 && comment < lineEnd && text.slice(start, comment).trim() === ''
    const end = isComment ? findCommentEnd(text, start) : findFenceEnd(text, start, lineEnd)
    if (end !== undefined) list.push({ kind: 'hidden', start, end })
    else addLine(text, start, lineEnd, list)
    start = (end ?? lineEnd) + 1
  }
  return { text, list }
}

/** Whether a line begins a paragraph, not a list, quote, table, rule, comment, tag or picture. */
export function beginsParagraph(line: string): boolean {
  return !/^(?:\t| {4}|\s*(?:[-*+] |\d{1,9}[.)] |[>|]|<[a-zA-Z/!]|\[?!\[|[-*_=]{3,}\s*$))/.test(line)
}

function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

function findCommentEnd(text: string, start: number): number {
  const close = text.indexOf('-->', start)
  return close === -1 ? text.length : findLineEnd(text, close)
}

/** Finds the end of a fence that a line opens: a line with only marks of the same kind, at least as many. */
function findFenceEnd(text: string, start: number, lineEnd: number): number | undefined {
  const mark = text[skipIndent(text, start)]
  if (mark !== '`' && mark !== '~') return undefined
  const fence = fencePattern.exec(text.slice(start, lineEnd))?.[1]
  if (fence === undefined) return undefined
  for (let at = text.indexOf(fence, lineEnd); at !== -1;) {
    const end = findLineEnd(text, at)
    const line = text.slice(text.lastIndexOf('\n', at) + 1, end)
    if (line.trim() === fencePattern.exec(line)?.[1]) return end
    at = text.indexOf(fence, end)
  }
  return text.length
}

const fencePattern = /^ {0,3}(`{3,}(?!.*`)|~{3,})/

function addLine(text: string, start: number, end: number, list: Block[]): void {
  const heading = parseHeading(text, start, end)
  if (heading !== undefined) return void list.push({ kind: 'heading', start, end, heading })
  const last = list.at(-1)
  const upper = last && isUnderline(text, start, end) ? readLastLine(text, last) : ''
  if (/^ {0,3}[^\s#]/.test(upper) && beginsParagraph(upper))
    list.push({ kind: 'heading', start, end, heading: upper, isUnderlined: true })
  else if (last?.kind === 'text') last.end = end
  else list.push({ kind: 'text', start, end })
}

function parseHeading(text: string, start: number, end: number): string | undefined {
  if (text[skipIndent(text, start)] !== '#') return undefined
  const line = text.slice(start, Math.min(end, start + inlineCharactersMax))
  const found = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/.exec(line)
  return found ? (found[1] ?? '') : undefined
}

function isUnderline(text: string, start: number, end: number): boolean {
  const at = skipIndent(text, start)
  const mark = text[at]
  // A single dash is a list item.
  if (mark !== '=' && (mark !== '-' || text[at + 1] !== '-')) return false
  return /^(?:=+|--+)\s*$/.test(text.slice(at, end))
}

function readLastLine(text: string, { kind, end }: Block): string {
  return kind === 'hidden' ? '' : text.slice(text.lastIndexOf('\n', end - 1) + 1, end)
}

function skipIndent(text: string, start: number): number {
  let at = start
  while (at < start + 3 && text[at] === ' ') at++
  return at
}
