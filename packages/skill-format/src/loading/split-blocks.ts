import { beginsParagraph, inlineCharactersMax } from '../skill-md/blocks.ts'
import { toPlainLine } from '../skill-md/outline.ts'
import { cutAtWord } from '../skill-md/text.ts'

/** A heading and the text below it, up to the next heading of any level. The first section has no heading. */
export interface TextSection {
  /** Text of its heading; `''` above the first heading. */
  readonly name: string
  /** 1 to 6; 0 above the first heading. */
  readonly depth: number
  /** The lines of the heading as written. */
  readonly heading: string
  readonly blocks: readonly TextBlock[]
}

/**
 * The smallest part that can be omitted: a paragraph, an item of a list with everything indented below it, a code
 * fence, a table.
 */
interface TextBlock {
  /**
   * The text as written, including the blank lines after the block. All headings and blocks in order make up the
   * document.
   */
  readonly text: string
  /** A code fence or a table, which can be omitted without making the following text unclear. */
  readonly isApart: boolean
}

/** Section names are truncated to this length for comparison and display. */
const sectionCharactersMax = 80

/** Maximum number of blocks; further text is not split. No known SKILL.md has a tenth as many. */
const blocksMax = 8192

/**
 * Splits a Markdown text where it may be cut, and returns the length that was split. Each line is read once, so the
 * time is linear. Never splits inside a code fence, a comment, a preformatted element or a table, nor in text that is
 * indented below a list item.
 */
export function splitSections(text: string): { sections: TextSection[]; length: number } {
  const sections = [{ name: '', depth: 0, heading: '', blocks: [] }]
  const reader: Reader = { sections, kind: 'none', isAfterBlank: false, blocks: 0 }
  const lineEnd = /\r\n?|\n/g
  for (let start = 0, end = 0; start < text.length; start = end) {
    lineEnd.lastIndex = start
    end = lineEnd.test(text) ? lineEnd.lastIndex : text.length
    const written = text.slice(start, end)
    if (reader.blocks >= blocksMax && isBorder(reader, written)) return { sections, length: start }
    addMarkdownLine(reader, written)
  }
  return { sections, length: text.length }
}

/** Whether the text may be split above a line. */
function isBorder({ open, kind, isAfterBlank }: Reader, line: string): boolean {
  if (open) return false
  return kind === 'apart' || (isAfterBlank && !/^[ \t]/.test(line)) || headingPattern.test(line.trimEnd())
}

/** Normalises a section name for comparison: plain text of the heading, truncated, in lower case. */
export function toSectionKey(name: string): string {
  return cutAtWord(toPlainLine(name), sectionCharactersMax).toLowerCase()
}

type Kind = 'none' | 'heading' | 'paragraph' | 'list' | 'apart' | 'other'

interface Reader {
  readonly sections: { name: string; depth: number; heading: string; blocks: { text: string; isApart: boolean }[] }[]
  /** The kind of block that the previous line belongs to. */
  kind: Kind
  isAfterBlank: boolean
  blocks: number
  /** How the open fence or element ends. Blank lines and Markdown have no meaning inside a fence or element. */
  open?: Opening
}

interface Opening {
  closes(line: string): boolean
  /** Whether the element is a block of its own, not part of a list item or a quotation. */
  readonly isApart: boolean
  /** Whether the element ends before this line, because it was inside a quotation. */
  endsBefore?(line: string): boolean
}

function addMarkdownLine(reader: Reader, written: string): void {
  const line = written.trimEnd()
  if (reader.open?.endsBefore?.(line)) reader.open = undefined
  if (reader.open) return readOpen(reader, reader.open, written, line)
  if (line === '') {
    appendLine(reader, written)
    reader.isAfterBlank = true
    return
  }
  // Markup is at the beginning of a line; some patterns would take too long on an endless line.
  const head = line.slice(0, inlineCharactersMax)
  if (!addHeading(reader, written, head)) addTextLine(reader, written, head)
  reader.isAfterBlank = false
}

function readOpen(reader: Reader, open: Opening, written: string, line: string): void {
  appendLine(reader, written)
  if (!open.closes(line)) return
  reader.open = undefined
  if (open.isApart) reader.kind = 'apart'
}

function addHeading(reader: Reader, written: string, line: string): boolean {
  const atx = headingPattern.exec(line)
  if (atx) {
    startSection(reader, atx[2] ?? '', atx[1]!.length, written)
    return true
  }
  // A line of `=` or `-` turns the whole paragraph above it into a heading.
  if (reader.kind !== 'paragraph' || reader.isAfterBlank || !/^ {0,3}(?:=+|--+)$/.test(line)) return false
  const { text } = reader.sections.at(-1)!.blocks.pop()!
  startSection(reader, text.trim(), line.includes('=') ? 1 : 2, text + written)
  return true
}

const headingPattern = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/

function startSection(reader: Reader, words: string, depth: number, heading: string): void {
  const plain = toPlainLine(words.replace(/(?:^|[ \t])#+$/, ''))
  reader.sections.push({ name: cutAtWord(plain, sectionCharactersMax), depth, heading, blocks: [] })
  reader.kind = 'heading'
  reader.blocks += 1
}

function addTextLine(reader: Reader, written: string, line: string): void {
  const isNested = /^(?: {2}|\t)/.test(line) && isOpenBlock(reader.kind)
  const open = findElementOpening(line)
  const isApart = open?.isApart === true && !isNested
  if (open && !open.closes(line.slice(open.length))) reader.open = { ...open, isApart }
  if (isApart) return startBlock(reader, written, 'apart', true)
  const kind = open ? 'other' : kindOf(line)
  const isItem = kind === 'list' && reader.kind === 'list' && /^ ?\S/.test(line) && reader.blocks < blocksMax
  const continues = isOpenBlock(reader.kind) && (reader.isAfterBlank ? isNested : !isItem)
  if (!continues) return startBlock(reader, written, kind, false)
  appendLine(reader, written)
  if (line.includes('|') && tableRulePattern.test(line)) reader.sections.at(-1)!.blocks.at(-1)!.isApart = true
}

function isOpenBlock(kind: Kind): boolean {
  return kind === 'paragraph' || kind === 'list' || kind === 'other'
}

function kindOf(line: string): Kind {
  if (/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line) && !/^ {0,3}(?:[-*][ \t]*){3,}$/.test(line)) return 'list'
  return beginsParagraph(line) ? 'paragraph' : 'other'
}

/** The delimiter row of a table (GitHub Flavored Markdown, section 4.10). */
const tableRulePattern = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/

/**
 * Finds a fence or element that a line opens and that blank lines do not end, with the number of characters before its
 * content.
 */
function findElementOpening(line: string): (Opening & { length: number }) | undefined {
  const fence = fencePattern.exec(line)
  if (fence) return toFence(fence[1]!, fence[2]!, line)
  const html = htmlPattern.exec(line)
  if (!html) return undefined
  const end = html[1] ? new RegExp(`</${html[1]}>`, 'i') : /-->/
  return { closes: (other) => end.test(other), isApart: true, length: html[0].length }
}

/** A code fence, also inside a quotation or a list item. */
const fencePattern = /^((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)(`{3,}(?!.*`)|~{3,})/
const htmlPattern = /^[ \t]*<(?:!--|(pre|script|style|textarea)(?=[\s>]|$))/i

/** A fence ends at a line with only marks of the same kind, at least as many (CommonMark, section 4.5). */
function toFence(prefix: string, mark: string, line: string): Opening & { length: number } {
  const isPlain = /^ {0,3}$/.test(prefix)
  const indent = isPlain ? ' {0,3}' : '[ \\t>]*'
  const end = new RegExp(`^${indent}\\${mark[0]}{${mark.length},}$`)
  const isQuoted = /^ {0,3}>/.test(prefix)
  return {
    closes: (other) => end.test(other),
    isApart: isPlain,
    ...(isQuoted && { endsBefore: (other: string) => !/^ {0,3}>/.test(other) }),
    length: line.length,
  }
}

function startBlock(reader: Reader, text: string, kind: Kind, isApart: boolean): void {
  reader.sections.at(-1)!.blocks.push({ text, isApart })
  reader.kind = kind
  reader.blocks += 1
}

/** Appends a line to the current block; blank lines at the beginning of a text form a block of their own. */
function appendLine(reader: Reader, text: string): void {
  const section = reader.sections.at(-1)!
  const block = section.blocks.at(-1)
  if (block) block.text += text
  else if (section.heading !== '') section.heading += text
  else section.blocks.push({ text, isApart: false })
}
