import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type ParsedNode, type YAMLMap } from 'yaml'
import type { KeyMark, SkillWarning } from './types.ts'

/**
 * Size limits of one document's frontmatter; each use of an alias counts, which stops nested aliases (billion laughs).
 */
const nodesMax = 10_000
const charactersMax = 256 * 1024
const depthMax = 64
const issuesMax = 50

/** State of converting one document's YAML to plain values, over all pieces that it was split into. */
export interface Conversion {
  readonly frontmatter: Record<string, unknown>
  readonly warnings: SkillWarning[]
  readonly strictIssues: SkillWarning[]
  readonly keys: Map<string, KeyMark>
  readonly anchors: Map<string, ParsedNode>
  nodesLeft: number
  charactersLeft: number
  /** The current piece, and its first line in the document. */
  source: string
  firstLine: number
  /** Position up to which lines were counted: offsets mostly grow, so that counting stays linear. */
  countedOffset: number
  countedLine: number
}

/** Starts the conversion of a document. */
export function createConversion(warnings: readonly SkillWarning[]): Conversion {
  return {
    frontmatter: {},
    warnings: [...warnings],
    strictIssues: [],
    keys: new Map(),
    anchors: new Map(),
    nodesLeft: nodesMax,
    charactersLeft: charactersMax,
    source: '',
    firstLine: 1,
    countedOffset: 0,
    countedLine: 1,
  }
}

/** Adds the top-level mapping of a parsed piece to the frontmatter. */
export function addMapping(state: Conversion, doc: Document.Parsed, source: string, firstLine: number): void {
  state.source = source
  state.firstLine = firstLine
  state.countedOffset = 0
  state.countedLine = firstLine
  if (!isMap(doc.contents)) return
  noteStyle(state, doc.contents)
  fillMapping(state, doc.contents, state.frontmatter, '', 0)
}

/** Adds a warning, up to a maximum number. */
export function addWarning(state: Conversion, code: string, message: string, line: number): void {
  if (state.warnings.length < issuesMax) state.warnings.push({ code, message, line })
}

/** Removes control characters, which no value needs, and replaces lone surrogates. */
function cleanText(text: string): string {
  const clean = dropControls(text)
  return clean.isWellFormed() ? clean : clean.toWellFormed()
}

/**
 * All control characters except tab, line feed and carriage return; and byte order marks, which YAML parsers may
 * interpret.
 */
export const controlPattern = /(?![\t\n\r])[\p{Cc}\uFEFF]/u
const controlsPattern = new RegExp(controlPattern, 'gu')

/** Removes everything that {@link controlPattern} matches. */
export function dropControls(text: string): string {
  return controlPattern.test(text) ? text.replace(controlsPattern, '') : text
}

function fillMapping(
  state: Conversion,
  map: YAMLMap.Parsed,
  target: Record<string, unknown>,
  path: string,
  depth: number,
): void {
  for (const { key: node, value } of map.items) {
    const key = toPropertyKey(state, node, depth)
    const offset = node.range[0]
    if (key === '__proto__') {
      addWarningAt(state, 'key_dropped', 'The key `__proto__` was dropped.', offset)
      continue
    }
    const isTwice = Object.hasOwn(target, key)
    if (isTwice) {
      const message = `The key '${shortenForWarning(key)}' occurs twice. The last value is used.`
      addWarningAt(state, 'duplicate_key', message, offset)
    }
    const isMarked = path === '' || path === 'metadata.'
    if (isMarked) {
      const earlierLine = isTwice ? state.keys.get(path + key)?.line : undefined
      state.keys.set(path + key, { line: lineAt(state, offset), earlierLine, written: readWritten(value) })
    }
    target[key] = toPlainValue(state, value, isMarked ? `${path}${key}.` : '-', depth + 1)
    if (state.nodesLeft < 0 || state.charactersLeft < 0) return noteExhausted(state, offset)
  }
}

function toPropertyKey(state: Conversion, node: ParsedNode, depth: number): string {
  const key = isScalar(node)
    ? (noteStyle(state, node), readScalarText(node))
    : toScalarText(toPlainValue(state, node, '-', depth + 1))
  state.charactersLeft -= key.length
  return cleanText(key)
}

function toScalarText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toPlainValue(state: Conversion, node: ParsedNode | null, path: string, depth: number): unknown {
  state.nodesLeft -= 1
  if (node === null || state.nodesLeft < 0 || state.charactersLeft < 0) return null
  if (depth > depthMax) {
    state.nodesLeft = -1
    return null
  }
  if (isAlias(node)) {
    addIssue(state, 'anchors', 'Anchors and aliases are outside the strict subset of YAML.', node)
    return toPlainValue(state, state.anchors.get(node.source) ?? null, '-', depth + 1)
  }
  noteStyle(state, node)
  const placeholder = readPlaceholder(state, node)
  if (placeholder !== undefined) return toCleanText(state, placeholder, node)
  if (isMap(node)) {
    const target: Record<string, unknown> = {}
    fillMapping(state, node, target, path, depth)
    return target
  }
  if (isSeq(node)) {
    const list: unknown[] = []
    for (const item of node.items) {
      if (state.nodesLeft < 0 || state.charactersLeft < 0) break
      list.push(toPlainValue(state, item, '-', depth + 1))
    }
    return list
  }
  return isScalar(node) ? toScalar(state, node) : null
}

/** The placeholder `{{NAME}}` of a template as it is written; YAML reads it as a mapping of a mapping. */
function readPlaceholder({ source }: Conversion, node: Node): string | undefined {
  if (!isMap(node) || !node.range || !source.startsWith('{{', node.range[0])) return undefined
  return source.slice(node.range[0], node.range[1])
}

function toScalar(state: Conversion, node: Node & { value: unknown; source?: string }): unknown {
  const { value } = node
  if (typeof value === 'string') return toCleanText(state, value, node)
  if (value === null || typeof value === 'boolean') return value
  const written = readScalarText(node)
  // A number keeps its digits: 1.10 is a version and not 1.1, and JSON has no infinities.
  return typeof value === 'number' && String(value) === written ? value : toCleanText(state, written, node)
}

function toCleanText(state: Conversion, text: string, node: Node): string {
  state.charactersLeft -= text.length
  const clean = cleanText(text)
  if (clean !== text) {
    const message = 'Control characters or lone surrogates were removed from a value.'
    addWarningAt(state, 'control_characters', message, node.range?.[0] ?? 0)
  }
  return clean
}

function readScalarText(node: { value: unknown; source?: string }): string {
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
}

/** The source text of a plain scalar that some YAML version reads as something other than text. */
function readWritten(node: Node | null): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined
  if (typeof node.value !== 'string') return cleanText(readScalarText(node))
  return node.type === 'PLAIN' && ambiguousPattern.test(node.value) ? node.value : undefined
}

/** Booleans and dates of YAML 1.1, which the parsers of many hosts still follow. */
const ambiguousPattern = /^(?:y|n|yes|no|on|off|\d{4}-\d{2}-\d{2})$/i

function noteStyle(state: Conversion, node: ParsedNode): void {
  if (node.anchor) {
    state.anchors.set(node.anchor, node)
    addIssue(state, 'anchors', 'Anchors and aliases are outside the strict subset of YAML.', node)
  }
  if ('flow' in node && node.flow)
    addIssue(state, 'flow_style', 'Flow style (`[...]`, `{...}`) is outside the strict subset of YAML.', node)
  if (node.tag) addIssue(state, 'tags', 'Tags (`!...`) are outside the strict subset of YAML.', node)
}

function addIssue(state: Conversion, code: string, message: string, node: Node): void {
  // One issue per code is enough; nested flow style would otherwise fill the list.
  if (state.strictIssues.some((issue) => issue.code === code)) return
  state.strictIssues.push({ code, message, line: lineAt(state, node.range?.[0] ?? 0) })
}

function noteExhausted(state: Conversion, offset: number): void {
  if (state.warnings.some(({ code }) => code === 'frontmatter_too_large')) return
  const message = 'The frontmatter has too many or too deeply nested values. Those beyond the limit were dropped.'
  state.warnings.push({ code: 'frontmatter_too_large', message, line: lineAt(state, offset) })
}

function addWarningAt(state: Conversion, code: string, message: string, offset: number): void {
  if (state.warnings.length < issuesMax) addWarning(state, code, message, lineAt(state, offset))
}

function lineAt(state: Conversion, offset: number): number {
  const isAhead = offset >= state.countedOffset
  const passed = state.source.slice(isAhead ? state.countedOffset : 0, offset)
  const line = (isAhead ? state.countedLine : state.firstLine) + (passed.match(lineEndsPattern)?.length ?? 0)
  // A carriage return at the end of the counted part may belong to a line feed after it.
  if (!passed.endsWith('\r')) {
    state.countedOffset = offset
    state.countedLine = line
  }
  return line
}

const lineEndsPattern = /\r\n|\n|\r/g

function shortenForWarning(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}
