import { beginsParagraph, inlineCharactersMax, readBlocks, type Block, type Blocks } from './blocks.ts'
import { cutAtWord } from './text.ts'

/** Headings and summary of a body. */
export interface Outline {
  /** ATX and setext headings outside of code fences, as plain text, in order. */
  readonly headings: readonly string[]
  /** The first paragraph as plain text, truncated at a word. */
  readonly summary: string
}

/** A heading of a body with the lines below it, up to the next heading of any level. */
export interface Section {
  readonly heading: string
  readonly lines: readonly string[]
}

/** Lists the headings and the first paragraph of a body. */
export function outlineSkillMd(body: string, blocks = readBlocks(body)): Outline {
  const headings: string[] = []
  for (const block of blocks.list) {
    const plain = block.kind === 'heading' && headings.length < headingsMax ? toHeading(block) : ''
    if (plain) headings.push(plain)
  }
  return { headings, summary: firstParagraph(body, blocks) }
}

/** The first paragraph of a body, as plain text of at most 500 characters; `''` if there is none. */
export function firstParagraph(body: string, blocks = readBlocks(body)): string {
  return cutAtWord(toPlainLine(findParagraph(blocks)), summaryCharactersMax)
}

/** Finds the sections whose heading matches, with a limited number of lines each. */
export function findSections({ text, list }: Blocks, wants: (heading: string) => boolean): Section[] {
  const sections: { heading: string; lines: string[] }[] = []
  let current: { heading: string; lines: string[] } | undefined
  let seen = 0
  for (const block of list) {
    if (block.kind === 'heading') {
      seen += 1
      const plain = sections.length < sectionsMax && seen <= headingsSeenMax ? toHeading(block) : undefined
      current = plain !== undefined && wants(plain) ? { heading: plain, lines: [] } : undefined
      if (current) sections.push(current)
    } else if (current && block.kind === 'text') {
      const left = sectionLinesMax - current.lines.length
      current.lines.push(...text.slice(block.start, block.end).split('\n', left))
    }
  }
  return sections
}

/** Converts inline Markdown to plain text: the words of links, emphasis and code without their markup. */
export function toPlainLine(markdown: string): string {
  const line = markdown.slice(0, inlineCharactersMax)
  const text = markPattern.test(line) ? dropMarks(line) : line
  return (spacePattern.test(text) ? text.replace(/\s+/g, ' ') : text).trim()
}

const markPattern = /[[<*_~`\\]/
/** Whitespace other than a single space. */
const spacePattern = /\s{2}|[^\S ]/

/** Only patterns whose mark occurs in the line are tried. */
function dropMarks(line: string): string {
  let text = line
  if (text.includes('['))
    text = text
      .replace(/!?\[([^[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)/g, '$1')
      .replace(/!?\[([^[\]]*)\](?:\[[^[\]]*\])?/g, '$1')
  if (text.includes('<')) text = text.replace(/<\/?[a-zA-Z][^<>]*>|<!--[^<>]*-->/g, '')
  if (/[*_~`]/.test(text))
    text = text.replace(/(\*\*|__|~~|\*|`+)(?=\S)/g, '').replace(/(?<=\S)(\*\*|__|~~|\*|`+)/g, '')
  if (text.includes('_')) text = text.replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '')
  return text.includes('\\') ? text.replace(/\\([!-/:-@[-`{-~])/g, '$1') : text
}

const summaryCharactersMax = 500
const headingsMax = 200
const headingCharactersMax = 200
const sectionsMax = 8
/** Number of headings that are examined. */
const headingsSeenMax = 2000
const sectionLinesMax = 200

/** The joined lines of the first paragraph, limited to slightly more characters than are shown. */
function findParagraph({ text, list }: Blocks): string {
  let paragraph = ''
  for (const { kind, start, end, isUnderlined } of list) {
    // The text above the underline was a heading, not a paragraph.
    if (isUnderlined) paragraph = ''
    const lines = kind === 'text' ? text.slice(start, end).split('\n') : ['']
    for (const line of lines) {
      if (line.trim() !== '' && (paragraph ? !endsParagraph(line) : beginsParagraph(line))) {
        paragraph += ` ${line.slice(0, inlineCharactersMax)}`
        if (paragraph.length > inlineCharactersMax) return paragraph
      } else if (paragraph === '' || toPlainLine(paragraph) === '') paragraph = ''
      else return paragraph
    }
  }
  return paragraph
}

function endsParagraph(line: string): boolean {
  return /^\s{0,3}(?:[-*+] |1[.)] |>|\||[-*_]{3,}\s*$)/.test(line)
}

function toHeading(block: Block): string {
  return (block.plain ??= toPlainHeading(block.heading!))
}

function toPlainHeading(heading: string): string {
  const text = heading.includes('#') ? heading.replace(/(?:^|[ \t])#+[ \t]*$/, '') : heading
  return cutAtWord(toPlainLine(text), headingCharactersMax)
}
