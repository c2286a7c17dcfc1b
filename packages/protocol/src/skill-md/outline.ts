import { cutAtWord } from './text.ts'

/** What a reader sees of a body at a glance. */
export interface Outline {
  /** ATX and setext headings outside code fences, as plain text, in order. */
  readonly headings: readonly string[]
  /** The first paragraph as plain text, cut at a word. */
  readonly summary: string
}

/** A heading of a body with the lines below it, to the next heading of any level. */
export interface Section {
  readonly heading: string
  readonly lines: readonly string[]
}

/** Lists the headings and the first paragraph of a body. */
export function outlineSkillMd(body: string): Outline {
  const { headings, paragraph } = scanBody(body)
  return { headings: headings.slice(0, headingsMax), summary: toSummary(paragraph) }
}

/** The first paragraph of a body that is prose, as plain text of at most 500 characters; `''` when there is none. */
export function firstParagraph(body: string): string {
  return toSummary(scanBody(body).paragraph)
}

/** The sections of a body whose heading passes; a bounded number of lines each. */
export function findSections(body: string, wants: (heading: string) => boolean): Section[] {
  const sections: { heading: string; lines: string[] }[] = []
  let current: { heading: string; lines: string[] } | undefined
  let seen = 0
  for (const { text, heading, isHidden } of readBlocks(body)) {
    if (heading !== undefined) {
      seen += 1
      const plain = sections.length < sectionsMax && seen <= headingsSeenMax ? toHeading(heading) : undefined
      current = plain !== undefined && wants(plain) ? { heading: plain, lines: [] } : undefined
      if (current) sections.push(current)
    } else if (current && !isHidden && current.lines.length < sectionLinesMax) current.lines.push(text)
  }
  return sections
}

/** Markdown within a line as plain text: the words of links, emphasis and code without their marks. */
export function toPlainLine(markdown: string): string {
  return markdown
    .slice(0, inlineCharactersMax)
    .replace(/!?\[([^[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)/g, '$1')
    .replace(/!?\[([^[\]]*)\](?:\[[^[\]]*\])?/g, '$1')
    .replace(/<\/?[a-zA-Z][^<>]*>|<!--[^<>]*-->/g, '')
    .replace(/(\*\*|__|~~|\*|`+)(?=\S)/g, '')
    .replace(/(?<=\S)(\*\*|__|~~|\*|`+)/g, '')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Nearly every SKILL.md known is smaller; what stands further down is in no outline. */
export const outlineCharactersMax = 256 * 1024
const summaryCharactersMax = 500
const headingsMax = 200
const headingCharactersMax = 200
const sectionsMax = 8
/** How many headings are looked at for the wanted ones. */
const headingsSeenMax = 2000
const sectionLinesMax = 200
/** Beyond it no line is shown; it also bounds what patterns may cost. */
const inlineCharactersMax = 2000

interface Block {
  readonly text: string
  /** As it is written; made plain where it is used, for that costs more than all the rest. */
  readonly heading?: string
  /** In a code fence or a comment. */
  readonly isHidden: boolean
}

function scanBody(body: string): { headings: string[]; paragraph: string } {
  const headings: string[] = []
  let paragraph = ''
  let isDone = false
  for (const { text, heading, isHidden } of readBlocks(body)) {
    if (heading !== undefined && headings.length < headingsMax) {
      const plain = toHeading(heading)
      if (plain) headings.push(plain)
    }
    if (isDone) {
      if (headings.length === headingsMax) break
      continue
    }
    // The line above the underline of a setext heading was no paragraph.
    if (heading !== undefined && text !== '') paragraph = ''
    const isProse = heading === undefined && !isHidden && text.trim() !== ''
    if (isProse && (paragraph ? !endsParagraph(text) : beginsParagraph(text))) {
      paragraph += ` ${text.slice(0, inlineCharactersMax)}`
      isDone = paragraph.length > inlineCharactersMax
    } else if (paragraph === '' || toPlainLine(paragraph) === '') paragraph = ''
    else isDone = true
  }
  return { headings, paragraph }
}

/** Whether a line begins prose, not a list, quote, table, rule, comment, tag or picture. */
function beginsParagraph(line: string): boolean {
  return !/^(?:\t| {4}|\s*(?:[-*+] |\d{1,9}[.)] |[>|]|<[a-zA-Z/!]|\[?!\[|[-*_=]{3,}\s*$))/.test(line)
}

function endsParagraph(line: string): boolean {
  return /^\s{0,3}(?:[-*+] |1[.)] |>|\||[-*_]{3,}\s*$)/.test(line)
}

/** The lines of a body with headings and hidden parts marked. */
function* readBlocks(body: string): Generator<Block> {
  const head = body.slice(0, outlineCharactersMax)
  const text = head.includes('\r') ? head.replace(/\r\n?/g, '\n') : head
  let fence = ''
  let isComment = false
  let before = ''
  for (let start = 0; start < text.length;) {
    const stop = text.indexOf('\n', start)
    const line = text.slice(start, stop === -1 ? text.length : stop)
    start = stop === -1 ? text.length : stop + 1
    const block = toBlock(line, before, fence, isComment)
    if (!block.isHidden) {
      before = line
      yield block
      continue
    }
    before = ''
    if (!isComment) fence = toggleFence(line, fence)
    if (!fence) isComment = (isComment || line.trimStart().startsWith('<!--')) && !line.includes('-->')
    yield block
  }
}

function toBlock(text: string, before: string, fence: string, isComment: boolean): Block {
  if (fence || isComment) return { text, isHidden: true }
  const mark = text.trimStart()[0]
  if (mark === '#') {
    const heading = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/.exec(text.slice(0, inlineCharactersMax))
    return heading ? { text: '', heading: heading[1] ?? '', isHidden: false } : { text, isHidden: false }
  }
  if ((mark === '`' || mark === '~') && fencePattern.test(text)) return { text, isHidden: true }
  if (mark === '<' && text.trimStart().startsWith('<!--')) return { text, isHidden: true }
  const isUnderline = (mark === '=' || mark === '-') && /^ {0,3}(?:=+|--+)\s*$/.test(text)
  const isHeading = isUnderline && /^ {0,3}[^\s#]/.test(before) && beginsParagraph(before)
  return isHeading ? { text, heading: before, isHidden: false } : { text, isHidden: false }
}

const fencePattern = /^ {0,3}(`{3,}(?!.*`)|~{3,})/

/** The fence that is open after a line: one of the same marks, at least as long and alone, closes it. */
function toggleFence(line: string, fence: string): string {
  const mark = fencePattern.exec(line)?.[1] ?? ''
  if (!fence) return mark
  return mark.startsWith(fence) && line.trim() === mark ? '' : fence
}

function toHeading(text: string): string {
  return cutAtWord(toPlainLine(text.replace(/(?:^|[ \t])#+[ \t]*$/, '')), headingCharactersMax)
}

function toSummary(paragraph: string): string {
  return cutAtWord(toPlainLine(paragraph), summaryCharactersMax)
}
