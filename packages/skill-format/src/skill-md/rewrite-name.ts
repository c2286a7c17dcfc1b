import { isMap, isScalar, type YAMLMap } from 'yaml'
import { findFrontmatter, readHeadingKey, readKey, type FrontmatterPlace } from './find-frontmatter.ts'
import { parseYaml, toYamlSource } from './parse-yaml.ts'
import { parseSkillMd } from './parse.ts'
import type { ParsedSkillMd } from './types.ts'

/**
 * Replaces or inserts the `name` in a document's frontmatter and leaves every other byte unchanged, including line ends
 * and BOM; a document without frontmatter gets one. The result parses to the new name and the same body.
 */
export function rewriteFrontmatterName(text: string, newName: string): string {
  const parsed = parseSkillMd(text)
  const place = placeOf(text, parsed)
  for (const edit of edits) {
    const edited = edit(text, place, quoteName(newName))
    if (edited !== undefined && isRenamed(edited, parsed, newName)) return edited
  }
  return replaceFrontmatter(text, parsed, quoteName(newName))
}

/** The ways to edit the name, from the least to the most invasive; the first with a correct result is used. */
const edits = [replaceValues, appendToFlow, replaceLines, insertAtEnd, insertAtStart, addFrontmatter] as const

/** A name that YAML could read as a number, boolean or null needs quotes. */
function quoteName(name: string): string {
  return /^[a-z][a-z0-9]*-[a-z0-9-]*$/.test(name) ||
    /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z0-9]*$/.test(name)
    ? name
    : JSON.stringify(name)
}

function placeOf(text: string, parsed: ParsedSkillMd): FrontmatterPlace {
  const place = findFrontmatter(text)
  const bodyStart = text.length - parsed.body.length
  // If the closing dashes are a rule of the body, the frontmatter ends where the body begins.
  return place.bodyStart === bodyStart ? place : { ...place, kind: 'unterminated', end: bodyStart, bodyStart }
}

function isRenamed(edited: string, before: ParsedSkillMd, newName: string): boolean {
  const after = parseSkillMd(edited)
  return after.frontmatter.name === newName && after.body === before.body
}

/** Replaces every value of `name` that the YAML parser finds. */
function replaceValues(text: string, place: FrontmatterPlace, name: string): string | undefined {
  if (place.kind === 'missing') return undefined
  const doc = parseYaml(toYamlSource(text.slice(place.start, place.end)))
  if (!doc || doc.errors.length > 0 || !isMap(doc.contents)) return undefined
  const spans = listNameSpans(doc.contents)
  if (spans.length === 0) return undefined
  let edited = text
  for (const [from, to] of spans.toReversed()) {
    edited = `${edited.slice(0, place.start + from)}: ${name}${edited.slice(place.start + to)}`
  }
  return edited
}

/** Spans from after each key `name` to the end of its value, including an anchor or tag before it. */
function listNameSpans(map: YAMLMap.Parsed): [number, number][] {
  const spans: [number, number][] = []
  for (const { key, value } of map.items) {
    if (isScalar(key) && key.value === 'name' && key.range && value?.range) {
      const end = 'type' in value && isBlock(value.type) ? value.range[1] - 1 : value.range[1]
      spans.push([key.range[1], Math.max(end, key.range[1])])
    }
  }
  return spans
}

/** Whether a node is a block scalar, whose range includes its last line end. */
function isBlock(type: unknown): boolean {
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED'
}

function appendToFlow(text: string, place: FrontmatterPlace, name: string): string | undefined {
  const brace = text.slice(place.start, place.end).search(/\S/)
  if (text[place.start + brace] !== '{') return undefined
  const at = place.start + brace + 1
  return `${text.slice(0, at)} name: ${name}, ${text.slice(at)}`
}

/** Replaces the lines of each key `name` in a frontmatter that is invalid YAML as a whole. */
function replaceLines(text: string, place: FrontmatterPlace, name: string): string | undefined {
  if (place.kind === 'missing') return undefined
  const lines = text.slice(place.start, place.end).match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
  let isName = false
  let isFound = false
  const kept = lines.map((line) => {
    const content = line.replace(/[\r\n]+$/, '')
    const key = readKey(content)
    if (key === undefined && !readHeadingKey(content)) return isName ? '' : line
    isName = key === 'name'
    if (!isName) return line
    isFound = true
    return `name: ${name}${line.slice(content.length)}`
  })
  return isFound ? text.slice(0, place.start) + kept.join('') + text.slice(place.end) : undefined
}

function insertAtEnd(text: string, place: FrontmatterPlace, name: string): string | undefined {
  if (place.kind === 'missing') return undefined
  const before = text.slice(0, place.end)
  const eol = findEol(text)
  const gap = /[\r\n]$/.test(before) ? '' : eol
  return `${before}${gap}name: ${name}${eol}${text.slice(place.end)}`
}

function insertAtStart(text: string, place: FrontmatterPlace, name: string): string | undefined {
  if (place.kind === 'missing') return undefined
  return `${text.slice(0, place.start)}name: ${name}${findEol(text)}${text.slice(place.start)}`
}

function addFrontmatter(text: string, place: FrontmatterPlace, name: string): string | undefined {
  if (place.kind !== 'missing') return undefined
  const eol = findEol(text)
  return `${text.slice(0, place.start)}---${eol}name: ${name}${eol}---${eol}${text.slice(place.start)}`
}

/** The last edit, for a frontmatter that no other edit makes readable: replaces the frontmatter, and keeps the body. */
function replaceFrontmatter(text: string, parsed: ParsedSkillMd, name: string): string {
  const eol = findEol(text)
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return `${bom}---${eol}name: ${name}${eol}---${eol}${parsed.body}`
}

function findEol(text: string): string {
  return /\r\n|\n|\r/.exec(text.slice(0, 65_536))?.[0] ?? '\n'
}
