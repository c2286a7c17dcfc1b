import { beginsParagraph, readBlocks } from './blocks.ts'
import { cutAtWord } from './text.ts'
import { toPlainLine } from './outline.ts'

/** A sentence of a body as plain text. */
export interface Sentence {
  readonly text: string
  readonly kind: 'heading' | 'prose' | 'code'
  /** Whether the next sentence of the list continues the same paragraph. */
  readonly continues: boolean
}

/**
 * Lists the sentences, headings and lines of code of a body, without markup, comments or invisible characters.
 *
 * @example listSentences('# Forms\n\nFills *forms*. Keeps a copy.') // texts: 'Forms', 'Fills forms.', 'Keeps a copy.'
 */
export function listSentences(body: string): Sentence[] {
  const { text, list } = readBlocks(body)
  const found: Sentence[] = []
  const add = (paragraph: string, kind: Sentence['kind']) => {
    const parts = toVisible(paragraph).split(sentenceEnd).filter(Boolean)
    for (const [i, part] of parts.entries()) found.push({ text: part, kind, continues: i + 1 < parts.length })
  }
  for (const { kind, start, end, heading, isUnderlined } of list) {
    if (kind === 'heading') {
      // An underlined heading is also a line of the text before it.
      if (!isUnderlined) add(toPlainLine(heading!), 'heading')
      continue
    }
    const lines = text.slice(start, end).split('\n').flatMap(splitLong)
    if (kind === 'text') for (const paragraph of joinLines(lines)) add(paragraph, 'prose')
    else if (fenceMark.test(lines[0]!))
      for (const line of lines.filter((one) => !fenceMark.test(one))) add(line, 'code')
  }
  return found
}

/**
 * Splits text as written into sentences with the spaces after them, so that all together are the text. Never splits
 * inside of code, nor where what follows begins with a small letter.
 *
 * @example splitSentences('One. Two.') // ['One. ', 'Two.']
 */
export function splitSentences(text: string): string[] {
  const sentences: string[] = []
  let start = 0
  let isInCode = false
  for (const { 0: mark, index } of text.matchAll(writtenEnd)) {
    const end = index + mark.length
    if (mark === '`') isInCode = !isInCode
    else if (!isInCode) {
      sentences.push(text.slice(start, end))
      start = end
    }
  }
  return start < text.length ? [...sentences, text.slice(start)] : sentences
}

const writtenEnd =
  /`|(?<!\b(?:e\.g|i\.e|cf|vs|approx|incl|Dr|Mrs?|Ms|Prof|Fig))[.!?]\s+(?![\s\p{Ll}])|[。！？；]+[」』”’）]*\s*/gu

/** Maximum length of a line in UTF-16 units. Markup of longer lines is not read: they are split between words. */
const lineLengthMax = 1500
/** The end of a sentence: not after these abbreviations, nor before a small letter, as after other abbreviations. */
const sentenceEnd =
  /(?<=[.!?])(?<!\b(?:e\.g|i\.e|cf|vs|approx|incl|Dr|Mrs?|Ms|Prof|Fig)\.)\s+(?!\p{Ll})|(?<=[。！？；])/u
const fenceMark = /^ {0,3}(?:```|~~~)/
const listMark = /^\s*(?:[-*+]|\d{1,9}[.)]|>+)\s+(?:\[[ xX]\]\s+)?/
const tableRule = /^[\s|:=-]*$/

/** Joins the lines of each paragraph, without marks of lists, quotes and tables. */
function joinLines(lines: readonly string[]): string[] {
  const paragraphs: string[] = []
  let isOpen = false
  for (const line of lines) {
    if (tableRule.test(line)) {
      isOpen = false
      continue
    }
    const isRow = line.trimStart().startsWith('|')
    const plain = toPlainLine(
      isRow ? line.replace(/(?<=\S)\s*\|\s*(?=\S)/g, ' · ').replaceAll('|', ' ') : line.replace(listMark, ''),
    )
    if (isOpen && beginsParagraph(line)) paragraphs.push(`${paragraphs.pop()!} ${plain}`)
    else paragraphs.push(plain)
    isOpen = !isRow
  }
  return paragraphs
}

function splitLong(line: string): string[] {
  const parts: string[] = []
  let rest = line
  while (rest.length > lineLengthMax) {
    const part = cutAtWord(rest, lineLengthMax)
    parts.push(part)
    rest = rest.slice(part.length).trimStart()
  }
  return [...parts, rest]
}

/** Removes what a reader cannot see, such as directional and zero-width marks. */
function toVisible(text: string): string {
  return text
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cf}\p{Cc}\p{Co}\p{Cn}]/gu, '')
    .trim()
}
