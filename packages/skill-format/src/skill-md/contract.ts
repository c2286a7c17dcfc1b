import { readBlocks } from './blocks.ts'
import { readKeyValue } from './key-value.ts'
import { findSections, toPlainLine, type Section } from './outline.ts'
import { toPlainText } from './text.ts'
import type { ParsedSkillMd } from './types.ts'

/** Inputs and outputs of a skill: any JSON from frontmatter, else the items of a section as text. */
export interface SkillContract {
  readonly inputs: unknown
  readonly outputs: unknown
}

/**
 * Reads `inputs` and `outputs` from frontmatter, else from sections such as Parameters and Returns; null if there are
 * none.
 */
export function readContract(parsed: ParsedSkillMd, blocks = readBlocks(parsed.body)): SkillContract | null {
  const given = { inputs: readSide(parsed, 'inputs'), outputs: readSide(parsed, 'outputs') }
  const isComplete = given.inputs !== null && given.outputs !== null
  const sections = isComplete ? [] : findSections(blocks, (heading) => sideOf(heading) !== undefined)
  const inputs = given.inputs ?? listItems(sections, 'inputs')
  const outputs = given.outputs ?? listItems(sections, 'outputs')
  return inputs === null && outputs === null ? null : { inputs, outputs }
}

/** The tools that a skill requests in `allowed-tools`, without duplicates, in order: `['Read', 'Bash(git:*)']`. */
export function readCapabilities(parsed: ParsedSkillMd): string[] {
  const value = parsed.frontmatter['allowed-tools']
  const texts = Array.isArray(value) ? value.map(toPlainText) : typeof value === 'string' ? splitTools(value) : []
  const tools = texts.map((tool) => tool.trim().slice(0, toolCharactersMax).toWellFormed()).filter(Boolean)
  return [...new Set(tools)].slice(0, toolsMax)
}

const sectionNames = {
  inputs: /^(?:inputs?|parameters?|arguments?|args)$/i,
  outputs: /^(?:outputs?|returns?|return values?)$/i,
} as const

const itemsMax = 50
const itemCharactersMax = 500
const toolsMax = 100
const toolCharactersMax = 200

type Side = keyof typeof sectionNames

/** Reads a key at the top level or below `metadata`, where the open format wants keys that it does not define. */
function readSide({ frontmatter }: ParsedSkillMd, side: Side): unknown {
  return readKeyValue(frontmatter, side) ?? readKeyValue(frontmatter, `metadata.${side}`) ?? null
}

function sideOf(heading: string): Side | undefined {
  if (sectionNames.inputs.test(heading)) return 'inputs'
  return sectionNames.outputs.test(heading) ? 'outputs' : undefined
}

function listItems(sections: readonly Section[], side: Side): string[] | null {
  const lines = sections.filter(({ heading }) => sideOf(heading) === side).flatMap((section) => section.lines)
  const items = lines.flatMap(splitItem).slice(0, itemsMax)
  return items.length > 0 ? items : null
}

function splitItem(line: string): string[] {
  const item = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line.slice(0, itemCharactersMax))?.[1]
  return item ? [toPlainLine(item)] : []
}

/** Splits at spaces and commas outside of parentheses: `Bash(git add:*, git commit:*) Read` is two tools. */
function splitTools(text: string): string[] {
  return text.slice(0, toolsMax * toolCharactersMax).match(/(?:[^\s,()]|\([^()]*\)|[()])+/g) ?? []
}
