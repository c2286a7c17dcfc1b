import type { LoadedSkill } from '@skillstead/protocol'
import { splitSentences } from '../skill-md/sentences.ts'
import { findFrontmatter } from '../skill-md/find-frontmatter.ts'
import { splitSections, toSectionKey, type TextSection } from './split-blocks.ts'

/** The smallest part of a loaded skill that can be omitted: a block, or a sentence of a long block. */
export interface Unit {
  /** The text as written; for a contract, its JSON. */
  readonly text: string
  /** Index among the units of its part. */
  readonly place: number
  /** Whether the rest of the group can be understood without this unit. */
  readonly isApart: boolean
}

/** Units that are reported under one name when they are omitted, such as the blocks of a section. */
export interface Group {
  readonly part: 'contract' | 'summary' | 'fullContent'
  readonly section: string
  /** Heading of a section, which remains together with its first remaining block. */
  readonly heading: string
  readonly units: readonly Unit[]
}

/** The parts of a loaded skill that can be omitted. */
export interface Removable {
  /** In order of priority: the first is omitted last. */
  readonly groups: readonly Group[]
  /**
   * Text that a truncated skill never contains: the text of the frontmatter (also in `frontmatter`), and the end of a
   * very long document.
   */
  readonly dropped: readonly { readonly section: string; readonly text: string }[]
}

/**
 * Maximum number of characters of a document that are split, because counting must not block other requests. Almost
 * every known SKILL.md is smaller.
 */
export const dividedCharactersMax = 256 * 1024

/** Names, in parentheses, of omitted parts that are not sections. */
export const partNames = {
  contract: '(contract)',
  summary: '(summary)',
  frontmatter: '(frontmatter)',
  rest: '(rest)',
  others: '(others)',
} as const

/** The content that a budget limits: summary and document, or at the level `contract` the contract as JSON. */
export function listContent({ level, contract, summary = '', fullContent = '' }: LoadedSkill): string[] {
  if (level === 'contract') return contract ? [JSON.stringify(contract)] : []
  return [summary, fullContent]
}

/**
 * Lists what may be omitted, in order of priority: the contract if it is the content, the summary, the priority
 * sections with their subsections, then the other sections in document order.
 */
export function listRemovable(loaded: LoadedSkill, priority: readonly string[]): Removable {
  const { level, summary, fullContent } = loaded
  const groups = level === 'contract' ? listContent(loaded).map((text) => toGroup('contract', text)) : []
  // With a document, the summary is one unit, because its beginning is worth less than the sections that the caller
  // asks for.
  if (summary) groups.push(toGroup('summary', ...(fullContent === undefined ? splitSentences(summary) : [summary])))
  if (fullContent === undefined) return { groups, dropped: [] }
  const { frontmatter, body, rest } = splitFrontmatter(fullContent)
  const { sections, length } = splitSections(body)
  const dropped = [
    { section: partNames.frontmatter, text: frontmatter },
    { section: partNames.rest, text: body.slice(length) + rest },
  ]
  return {
    groups: groups.concat(toSectionGroups(sections, priority)),
    dropped: dropped.filter(({ text }) => text !== ''),
  }
}

/** Length of a group in characters. */
export function toGroupLength({ heading, units }: Group): number {
  return units.reduce((sum, { text }) => sum + text.length, heading.length)
}

function toGroup(part: 'contract' | 'summary', ...texts: readonly string[]): Group {
  const units = texts.map((text, place) => ({ text, place, isApart: false }))
  return { part, section: partNames[part], heading: '', units }
}

/** Maximum length of an undivided paragraph, so that a budget may include only the first sentences. */
const undividedCharactersMax = 200

function divideBlock(block: TextSection['blocks'][number]): TextSection['blocks'] {
  const { text, isApart } = block
  if (isApart || text.length <= undividedCharactersMax || nestedPattern.test(text)) return [block]
  return splitSentences(text).map((sentence) => ({ text: sentence, isApart }))
}

/**
 * Blocks that are not divided, because their parts are unclear without the whole block: fences, elements, quotations,
 * tables, items of lists, and blocks with text below a blank line.
 */
const nestedPattern = /^[ \t]*(?:[<>|]|```|~~~|[-*+][ \t]|\d{1,9}[.)][ \t])|\n[ \t]*[<>|`~]|\n[ \t]*\r?\n[ \t]*\S/

/** Splits the document into frontmatter, body, and the rest beyond the limit, at a blank line if there is one. */
function splitFrontmatter(fullContent: string): { frontmatter: string; body: string; rest: string } {
  const { kind, start, end, bodyStart } = findFrontmatter(fullContent)
  // Dashes below a heading, quotation or fence are a rule of the body, not the end of frontmatter.
  const isBody = kind === 'missing' || /^(?:> |```|~~~|#)/m.test(fullContent.slice(start, end))
  const above = isBody ? 0 : bodyStart
  const from = above + /^(?:[ \t]*(?:\r\n|\n|\r))*/.exec(fullContent.slice(above))![0].length
  const bound = from + dividedCharactersMax
  const blankLine = fullContent.length > bound ? fullContent.lastIndexOf('\n\n', bound) : 0
  const to = blankLine > from ? blankLine + 2 : bound
  return { frontmatter: fullContent.slice(0, from), body: fullContent.slice(from, to), rest: fullContent.slice(to) }
}

function toSectionGroups(sections: readonly TextSection[], priority: readonly string[]): Group[] {
  let place = 0
  const groups = sections.map(({ name, heading, blocks }): Group => {
    // A heading with nothing below it is a unit of its own.
    const list = blocks.length > 0 || heading === '' ? blocks : [{ text: '', isApart: false }]
    const units = list.flatMap(divideBlock).map((block) => ({ ...block, place: place++ }))
    return { part: 'fullContent', section: name, heading, units }
  })
  return [...orderSections(sections, priority)].map((index) => groups[index]!)
}

/** The indexes of sections in order of priority; unknown names are ignored. */
function orderSections(sections: readonly TextSection[], priority: readonly string[]): Set<number> {
  const order = new Set<number>()
  if (priority.length > 0) {
    const firsts = new Map<string, number>()
    for (const [index, { name }] of sections.entries()) {
      const key = toPriorityKey(name)
      if (!firsts.has(key)) firsts.set(key, index)
    }
    for (const place of priority.keys()) addWithSubsections(sections, findFirstPlace(firsts, priority, place), order)
  }
  for (const index of sections.keys()) order.add(index)
  return order
}

const headingCommasMax = 7

/**
 * Finds the section of a priority. The name of a heading with commas is several items of `priority`, because commas
 * separate the names in a URL.
 */
function findFirstPlace(firsts: ReadonlyMap<string, number>, priority: readonly string[], place: number) {
  for (let pieces = 1; pieces <= headingCommasMax + 1 && place + pieces <= priority.length; pieces++) {
    const found = firsts.get(toPriorityKey(priority.slice(place, place + pieces).join(',')))
    if (found !== undefined) return found
  }
  return undefined
}

function toPriorityKey(name: string): string {
  return toSectionKey(name).replaceAll(/ ?, ?/g, ',')
}

function addWithSubsections(sections: readonly TextSection[], first: number | undefined, order: Set<number>): void {
  if (first === undefined) return
  const { depth } = sections[first]!
  order.add(first)
  for (let index = first + 1; depth > 0 && (sections[index]?.depth ?? 0) > depth; index++) order.add(index)
}

/** Omitted text of a group, or outside of all groups. */
export interface Left {
  readonly section: string
  readonly characters: number
  readonly group?: Group
  /** The units of the group that were not omitted. */
  readonly kept: readonly Unit[]
}
