import { beginsParagraph, inlineCharactersMax } from '../skill-md/blocks.ts'
import { toPlainLine } from '../skill-md/outline.ts'
import { cutAtWord } from '../skill-md/text.ts'

/** A heading with what stands below it, up to the next heading of any level. The first section of a text has none. */
export interface TextSection {
  /** The words of its heading, `''` above the first one. */
  readonly name: string
  /** 1 to 6; 0 above the first heading. */
  readonly depth: number
  /** Its lines as they are written. */
  readonly heading: string
  readonly blocks: readonly TextBlock[]
}

/** What may be left out by itself: a paragraph, an item of a list with all that is indented below it, a fence, a table. */
interface TextBlock {
  /** As it is written, with the blank lines after it. All blocks and headings in a row are the text again. */
  readonly text: string
  /** A code fence or a table: what follows it can be read without it. */
  readonly isApart: boolean
}

/** Names of sections are compared and shown up to here. */
const sectionCharactersMax = 80

/** Of a text with more blocks the rest is not taken apart; no SKILL.md known has a tenth of them. */
const blocksMax = 8192

/**
 * Takes a Markdown text apart at the borders where it may be cut, and says how far it got. Lines are read once, so that it
 * takes linear time. No border lies in a code fence, a comment, a preformatted element or a table, nor within what is
 * indented below an item.
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
    readLine(reader, written)
  }
  return { sections, length: text.length }
}

/** Whether a text may end above a line. */
function isBorder({ open, kind, isAfterBlank }: Reader, line: string): boolean {
  if (open) return false
  return kind === 'apart' || (isAfterBlank && !/^[ \t]/.test(line)) || headingPattern.test(line.trimEnd())
}

/** The name that a section goes by: the words of its heading, cut, however they are capitalised. */
export function toSectionKey(name: string): string {
  return cutAtWord(toPlainLine(name), sectionCharactersMax).toLowerCase()
}

type Kind = 'none' | 'heading' | 'paragraph' | 'list' | 'apart' | 'other'

interface Reader {
  readonly sections: { name: string; depth: number; heading: string; blocks: { text: string; isApart: boolean }[] }[]
  /** What the line above belongs to. */
  kind: Kind
  isAfterBlank: boolean
  blocks: number
  /** Ends what began above, where blank lines and marks mean nothing. */
  open?: Opening
}

interface Opening {
  closes(line: string): boolean
  /** It is a block of its own, not a part of an item or a quotation. */
  readonly isApart: boolean
  /** Whether it ends above this line, since it stood in a quotation. */
  endsBefore?(line: string): boolean
}

function readLine(reader: Reader, written: string): void {
  const line = written.trimEnd()
  if (reader.open?.endsBefore?.(line)) reader.open = undefined
  if (reader.open) return readOpen(reader, reader.open, written, line)
  if (line === '') {
    append(reader, written)
    reader.isAfterBlank = true
    return
  }
  // Marks stand at the beginning; some patterns would take too long on a line without an end.
  const head = line.slice(0, inlineCharactersMax)
  if (!readHeading(reader, written, head)) readText(reader, written, head)
  reader.isAfterBlank = false
}

function readOpen(reader: Reader, open: Opening, written: string, line: string): void {
  append(reader, written)
  if (!open.closes(line)) return
  reader.open = undefined
  if (open.isApart) reader.kind = 'apart'
}

function readHeading(reader: Reader, written: string, line: string): boolean {
  const atx = headingPattern.exec(line)
  if (atx) {
    startSection(reader, atx[2] ?? '', atx[1]!.length, written)
    return true
  }
  // What is underlined is a heading: all of the paragraph, as long as it is one.
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

function readText(reader: Reader, written: string, line: string): void {
  const isNested = /^(?: {2}|\t)/.test(line) && isOpenBlock(reader.kind)
  const open = findOpening(line)
  const isApart = open?.isApart === true && !isNested
  if (open && !open.closes(line.slice(open.length))) reader.open = { ...open, isApart }
  if (isApart) return startBlock(reader, written, 'apart', true)
  const kind = open ? 'other' : kindOf(line)
  const isItem = kind === 'list' && reader.kind === 'list' && /^ ?\S/.test(line) && reader.blocks < blocksMax
  const continues = isOpenBlock(reader.kind) && (reader.isAfterBlank ? isNested : !isItem)
  if (!continues) return startBlock(reader, written, kind, false)
  append(reader, written)
  if (line.includes('|') && tableRulePattern.test(line)) reader.sections.at(-1)!.blocks.at(-1)!.isApart = true
}

function isOpenBlock(kind: Kind): boolean {
  return kind === 'paragraph' || kind === 'list' || kind === 'other'
}

function kindOf(line: string): Kind {
  if (/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line) && !/^ {0,3}(?:[-*][ \t]*){3,}$/.test(line)) return 'list'
  return beginsParagraph(line) ? 'paragraph' : 'other'
}

/** The row below the heads of a table (GitHub Flavored Markdown, section 4.10). */
const tableRulePattern = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/

/** What a line opens that blank lines do not end, and after how many of its characters it may close. */
function findOpening(line: string): (Opening & { length: number }) | undefined {
  const fence = fencePattern.exec(line)
  if (fence) return toFence(fence[1]!, fence[2]!, line)
  const html = htmlPattern.exec(line)
  if (!html) return undefined
  const end = html[1] ? new RegExp(`</${html[1]}>`, 'i') : /-->/
  return { closes: (other) => end.test(other), isApart: true, length: html[0].length }
}

/** A fence, also one in a quotation or an item. */
const fencePattern = /^((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)(`{3,}(?!.*`)|~{3,})/
const htmlPattern = /^[ \t]*<(?:!--|(pre|script|style|textarea)(?=[\s>]|$))/i

/** Marks of the same kind, at least as many and alone, close a fence (CommonMark, section 4.5). */
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

/** Adds a line to what is above it; blank lines at the beginning of a text make a block of their own. */
function append(reader: Reader, text: string): void {
  const section = reader.sections.at(-1)!
  const block = section.blocks.at(-1)
  if (block) block.text += text
  else if (section.heading !== '') section.heading += text
  else section.blocks.push({ text, isApart: false })
}
