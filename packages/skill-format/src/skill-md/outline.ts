import { beginsParagraph, inlineCharactersMax, readBlocks, type Block, type Blocks } from './blocks.ts'
import { cutAtWord } from './text.ts'

/** Headings and summary of a body. */
export interface Outline {
  /** ATX and setext headings outside of code fences, as plain text, in order. */
  readonly headings: readonly string[]
  /** What {@link firstParagraph} returns. */
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

/**
 * The first paragraph of a body that says something, as plain text of at most 500 characters. A line that announces a
 * list is followed by the items of the list. For a body without such a paragraph, the lists, quotations and tables are
 * joined; `''` if they have too few letters.
 *
 * @example firstParagraph('# Forms\n\nUse it to:\n\n- fill forms\n- check them') // 'Use it to: fill forms; check them'
 */
export function firstParagraph(body: string, blocks = readBlocks(body)): string {
  return cutAtWord(findSummary(blocks), summaryCharactersMax).replace(/[:：;；]$/, '…')
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

/** The texts from which a summary is chosen. `others` are items of lists, quotations and rows of tables. */
interface Candidates {
  /** A paragraph that announces a list, such as `It can:`; empty after the next paragraph or heading. */
  announcement: string
  /** The items of the announced list. */
  readonly announced: string[]
  readonly others: string[]
  /** The first paragraph that is too short for a summary; used if there is no other text. */
  stub: string
}

function findSummary({ text, list }: Blocks): string {
  const found: Candidates = { announcement: '', announced: [], others: [], stub: '' }
  let paragraph: string[] = []
  /** Returns the summary, if the paragraph that ends here, or the list before it, is one. */
  const close = (): string => {
    const plain = toPlainLine(paragraph.join(' '))
    const isData = isDataBlock(paragraph)
    paragraph = []
    return plain === '' ? '' : addParagraph(found, plain, isData)
  }
  for (const { kind, start, end, isUnderlined } of list) {
    // The text above the underline was a heading, not a paragraph.
    if (isUnderlined) paragraph = []
    const summary = close() || (kind === 'text' ? '' : closeAnnouncement(found))
    if (summary) return summary
    const lines = kind === 'text' ? text.slice(start, end).split('\n', summaryLinesMax) : []
    for (const line of lines) {
      const isOpen = paragraph.length > 0
      if (line.trim() !== '' && (isOpen ? !endsParagraph(line) : beginsParagraph(line))) {
        if (paragraph.length < paragraphLinesMax) paragraph.push(line.slice(0, inlineCharactersMax))
        continue
      }
      const ended = close() || addOther(found, line)
      if (ended) return ended
    }
  }
  return close() || closeAnnouncement(found) || chooseOther(found)
}

/**
 * Takes a paragraph. Returns the list announced before it, or the paragraph if it is long enough and announces no list.
 */
function addParagraph(found: Candidates, plain: string, isData: boolean): string {
  const announced = closeAnnouncement(found)
  if (announced) return announced
  const sentences = /[:：]$/.test(plain) ? (/^.*(?:[.!?](?=\s)|[。！？])/su.exec(plain)?.[0] ?? '') : plain
  if (!isData && isTelling(sentences)) return sentences
  if (isData) return ''
  if (sentences !== plain) found.announcement = plain
  else if (/[.!?。！？]$/.test(plain)) found.stub ||= plain
  return ''
}

/** Takes a line outside of paragraphs. Returns the announced list once it has the maximum number of items. */
function addOther(found: Candidates, line: string): string {
  const items = found.announcement === '' ? found.others : found.announced
  if (items.length >= itemsMax) return items === found.announced ? closeAnnouncement(found) : ''
  if (/^\s*(?:$|<|\[?!\[)/.test(line)) return ''
  const plain = toPlainLine(line.slice(0, inlineCharactersMax).replace(otherMarks, '').replaceAll('|', ' '))
  if (/\p{L}/u.test(plain)) items.push(plain)
  return ''
}

/** Ends the announcement, and returns it with its items. Empty if it has no items, or too few letters for a summary. */
function closeAnnouncement(found: Candidates): string {
  const { announcement, announced } = found
  const text = announced.length > 0 ? `${announcement} ${joinItems(announced)}` : ''
  found.announcement = ''
  found.announced.length = 0
  return isTelling(text) ? text : ''
}

function chooseOther({ others, stub }: Candidates): string {
  const text = joinItems(others)
  return isTelling(text) ? text : stub
}

function joinItems(items: readonly string[]): string {
  return items
    .map((item, i) => (i + 1 < items.length && !/[.!?:;,。！？：；，、]$/.test(item) ? `${item};` : item))
    .join(' ')
}

/** Whether a text has enough letters for a summary. A Chinese, Japanese or Korean letter counts as three. */
function isTelling(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters >= lettersMin) return true
  const wide = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0
  return letters + 2 * wide >= lettersMin
}

/** Whether lines are a mapping, such as frontmatter that a program wrote a second time, or facts about the document. */
function isDataBlock(lines: readonly string[]): boolean {
  if (/^[a-z][\w-]*:(?:\s|$)/.test(lines[0] ?? '')) return true
  return lines.length > 1 && lines.every((line) => /^\s*[*_]*[\p{L}\d][^:：.]{0,30}[:：]/u.test(line))
}

const lettersMin = 20
const itemsMax = 8
const summaryLinesMax = 5000
const paragraphLinesMax = 50
const otherMarks = /^\s*(?:(?:[-*+]|\d{1,9}[.)]|>+)\s+)*(?:\[[ xX]\]\s+)?/

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
