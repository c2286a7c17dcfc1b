import type { LoadedSkill } from '@skillstead/protocol'
import { findFrontmatter } from '../skill-md/find-frontmatter.ts'
import { splitSections, toSectionKey, type TextSection } from './split-blocks.ts'

/** The least that can be left out of a loaded skill by itself. */
export interface Unit {
  /** As it is written; of a contract, its JSON. */
  readonly text: string
  /** Where it stands among the units of its part. */
  readonly place: number
  /** What follows it in its group can be read without it. */
  readonly isApart: boolean
}

/** Units that stand under one name in what was left out, such as the blocks of a section. */
export interface Group {
  readonly part: 'contract' | 'summary' | 'fullContent'
  readonly section: string
  /** Of a section, its heading, which is kept with the first block that is. */
  readonly heading: string
  readonly units: readonly Unit[]
}

/** What a loaded skill can lose. */
export interface Removable {
  /** The first one is the last that goes. */
  readonly groups: readonly Group[]
  /** What no answer to a budget holds: the frontmatter's text, which stands in `frontmatter`, and the end of a long text. */
  readonly dropped: readonly { readonly section: string; readonly text: string }[]
}

/** A text is taken apart so far: nearly every SKILL.md known is smaller, and counting must not hold everybody up. */
export const dividedCharactersMax = 256 * 1024

/** What stands for the names of sections, in parentheses, where something else was left out. */
export const partNames = {
  contract: '(contract)',
  summary: '(summary)',
  frontmatter: '(frontmatter)',
  rest: '(rest)',
  others: '(others)',
} as const

/** What a budget bounds: summary and document, or below the level `summary` the contract as JSON. */
export function listContent({ level, contract, summary = '', fullContent = '' }: LoadedSkill): string[] {
  if (level === 'contract') return contract ? [JSON.stringify(contract)] : []
  return [summary, fullContent]
}

/**
 * Lists what may be left out, in the order in which it is kept: the contract where it is the content, the summary, the
 * sections that are wanted first, each with those below it, then the others as they stand in the document.
 */
export function listRemovable(loaded: LoadedSkill, priority: readonly string[]): Removable {
  const { level, summary, fullContent } = loaded
  const groups = level === 'contract' ? listContent(loaded).map((text) => toGroup('contract', text)) : []
  if (summary) groups.push(toGroup('summary', summary))
  if (fullContent === undefined) return { groups, dropped: [] }
  const { frontmatter, body, rest } = divide(fullContent)
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

/** The characters of a group. */
export function lengthOf({ heading, units }: Group): number {
  return units.reduce((sum, { text }) => sum + text.length, heading.length)
}

function toGroup(part: 'contract' | 'summary', text: string): Group {
  return { part, section: partNames[part], heading: '', units: [{ text, place: 0, isApart: false }] }
}

/** The text by its frontmatter, its body, and what is beyond the bound, cut at a blank line where there is one. */
function divide(fullContent: string): { frontmatter: string; body: string; rest: string } {
  const { kind, start, end, bodyStart } = findFrontmatter(fullContent)
  // Dashes below a heading or a quotation are a rule of the body, not the end of frontmatter.
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
    // A heading with nothing below it is kept by itself.
    const list = blocks.length > 0 || heading === '' ? blocks : [{ text: '', isApart: false }]
    const units = list.map((block) => ({ ...block, place: place++ }))
    return { part: 'fullContent', section: name, heading, units }
  })
  return [...orderSections(sections, priority)].map((index) => groups[index]!)
}

/** The places of sections in the order in which they are kept; a name that no heading has is ignored. */
function orderSections(sections: readonly TextSection[], priority: readonly string[]): Set<number> {
  const order = new Set<number>()
  if (priority.length > 0) {
    const firsts = new Map<string, number>()
    for (const [index, { name }] of sections.entries()) {
      const key = toPriorityKey(name)
      if (!firsts.has(key)) firsts.set(key, index)
    }
    for (const place of priority.keys()) addWithSubsections(sections, findFirst(firsts, priority, place), order)
  }
  for (const index of sections.keys()) order.add(index)
  return order
}

const headingCommasMax = 7

/** A heading with commas comes in pieces, since commas stand between the names in an address. */
function findFirst(firsts: ReadonlyMap<string, number>, priority: readonly string[], place: number) {
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
