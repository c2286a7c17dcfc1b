import { isMap } from 'yaml'
import { readHeadingKey, readKey } from './find-frontmatter.ts'
import { parseYaml } from './parse-yaml.ts'
import { addMapping, addWarning, type Conversion } from './to-plain.ts'

/** Maximum number of top-level keys that are repaired; legitimate frontmatter has fewer. */
const piecesMax = 200

/** A top-level key with its lines. */
interface Piece {
  readonly key: string
  readonly lines: string[]
  readonly line: number
}

/**
 * Parses a frontmatter that is invalid YAML, key by key. A key that is valid by itself is parsed as it is; otherwise
 * its lines are quoted if that helps; as the last resort its text is the value.
 */
export function repairFrontmatter(source: string, firstLine: number, state: Conversion): void {
  const pieces = cutIntoPieces(source, firstLine, state)
  for (const piece of pieces.slice(0, piecesMax)) readPiece(piece, state)
  if (pieces.length <= piecesMax) return
  const message = `Only the first ${piecesMax} keys of the frontmatter were read.`
  addWarning(state, 'frontmatter_too_large', message, pieces[piecesMax]!.line)
}

function cutIntoPieces(source: string, firstLine: number, state: Conversion): Piece[] {
  const pieces: Piece[] = []
  for (const [index, line] of source.split(/\r\n|\n|\r/).entries()) {
    const number = firstLine + index
    const key = readKey(line)
    const current = pieces.at(-1)
    if (key !== undefined) pieces.push({ key, lines: [line], line: number })
    else if (readHeadingKey(line)) pieces.push(...cutHeading(line, number, state))
    else if (noSpacePattern.test(line) && !opensQuote(current)) ignoreLine(state, number, line)
    else if (current) current.lines.push(line)
    else if (line.trim() !== '' && !line.startsWith('#')) ignoreLine(state, number, line)
  }
  return pieces
}

/** A standard key whose value follows the colon without a space, so that YAML sees no key. */
const noSpacePattern = /^(?:name|description|license|version|metadata|compatibility|allowed-tools|keywords|tags):\S/

/** Whether the value of a key begins with a quote that has not ended. */
function opensQuote(piece: Piece | undefined): boolean {
  const [, quote, rest = ''] = /^[^:]+:\s*(["'])(.*)$/s.exec(piece?.lines.join('\n') ?? '') ?? []
  return quote !== undefined && !rest.includes(quote)
}

function ignoreLine(state: Conversion, number: number, line: string): void {
  const [, key] = /^\s*([^\s:]+):\S/.exec(line) ?? []
  const advice = key === undefined ? '' : ` Write a space after '${key.slice(0, 64)}:'.`
  const message = `Line ${number} of the frontmatter is not \`key: value\` and was ignored.${advice}`
  addWarning(state, 'line_ignored', message, number)
}

/** `## name: x description: y` results from a frontmatter whose first lines were joined to a heading. */
function cutHeading(line: string, number: number, state: Conversion): Piece[] {
  addWarning(state, 'frontmatter_repaired', `Line ${number} is a heading. Its keys were read anyway.`, number)
  const pieces = line
    .slice(0, headingCharactersMax)
    .split(/\s(?=(?:name|description|homepage|license|metadata|version):\s)/)
  return pieces.slice(1).map((text) => ({ key: readKey(text) ?? '', lines: [text], line: number }))
}

const headingCharactersMax = 4096

function readPiece(piece: Piece, state: Conversion): void {
  if (tryLines(piece, piece.lines, state)) return
  // Quoted text that continues without indentation is invalid here, but accepted by other parsers.
  if (/^[^:]+:\s*["']/.test(piece.lines[0]!) && tryLines(piece, piece.lines.map(indentRest), state)) {
    const message = `The quoted value of '${piece.key.slice(0, 64)}' continues in lines that are not indented.`
    return addWarning(state, 'frontmatter_repaired', message, piece.line)
  }
  const fixed = piece.lines.map(fixLine)
  const at = fixed.findIndex((line, index) => line !== piece.lines[index])
  const line = piece.line + Math.max(at, 0)
  const quote = opensQuote(piece) ? ' The quote at the beginning of the value does not end, and was removed.' : ''
  if (tryLines(piece, fixed, state)) {
    const message = `Line ${line} is not valid YAML. Its value was read as plain text. Put it in quotes.${quote}`
    return addWarning(state, 'frontmatter_repaired', message, line)
  }
  if (tryWithoutWrongLines(piece, fixed, state)) return
  const message = `The value of '${piece.key.slice(0, 64)}' is not valid YAML. Its lines were read as text.${quote}`
  addWarning(state, 'frontmatter_repaired', message, line)
  const text = toQuoted(readAsText(piece))
  tryLines(piece, [`${toQuoted(piece.key)}: ${text}`], state)
}

/** Maximum number of lines of a value in which wrong lines are looked for; known metadata has fewer. */
const searchedLinesMax = 60
/** Maximum depth of blocks in which wrong lines are looked for; known metadata is less deep. */
const searchedDepthMax = 4

/** Keys whose value is text, so that no line of the value is wrong. */
const textKeys: ReadonlySet<string> = new Set(['name', 'description', 'license', 'compatibility'])

/** Reads a block without the lines that are not valid YAML. A warning names each of these lines. */
function tryWithoutWrongLines(piece: Piece, lines: readonly string[], state: Conversion): boolean {
  const [head = '', ...rest] = lines
  if (!/^[^:]+:\s*$/.test(head) || lines.length > searchedLinesMax || textKeys.has(piece.key)) return false
  const wrong = findWrongLines(
    rest.map((text, index) => ({ text, index: index + 1 })),
    [head],
  )
  // Replace wrong lines by blank lines, so that the other lines keep their numbers.
  const others = lines.map((line, index) => (wrong.includes(index) ? '' : line))
  if (wrong.length === 0 || !others.slice(1).some((line) => line.trim() !== '') || !tryLines(piece, others, state))
    return false
  for (const index of wrong) ignoreLine(state, piece.line + index, piece.lines[index]!)
  return true
}

interface IndexedLine {
  readonly text: string
  readonly index: number
}

/** The indexes of the wrong lines of a block below the lines `heads`, which lead to it: each entry is tried alone. */
function findWrongLines(lines: readonly IndexedLine[], heads: readonly string[]): number[] {
  const entries = cutIntoEntries(lines)
  const indentation = toIndentation(entries[0]?.[0]?.text ?? '')
  const isOfMap = /:\s*$/.test(heads.at(-1)!)
  return entries.flatMap((entry) => {
    const [first, ...rest] = entry
    const { text, index } = first!
    const isLoose = isOfMap && /^(?!#|- )[^\s:][^:]*(?::\S|$)/.test(text.trimStart())
    const isReadable = (end: number) => isValid([...heads, ...entry.slice(0, end).map((line) => line.text)])
    if (toIndentation(text) < indentation || isLoose || !isReadable(1)) {
      // A block needs its first line, so that the lines below it are lost with it.
      return [index, ...rest.filter((line) => line.text.trim() !== '').map((line) => line.index)]
    }
    if (isReadable(entry.length)) return []
    return heads.length < searchedDepthMax ? findWrongLines(rest, [...heads, text]) : rest.map((line) => line.index)
  })
}

/** Cuts a block at each line that is not deeper than its first line; a list may be as deep as the key above it. */
function cutIntoEntries(lines: readonly IndexedLine[]): IndexedLine[][] {
  const entries: IndexedLine[][] = []
  const first = lines.find(({ text }) => text.trim() !== '')?.text ?? ''
  const isList = first.trimStart().startsWith('- ')
  for (const line of lines) {
    const isFiller = line.text.trim() === '' || (!isList && line.text.trimStart().startsWith('- '))
    const isDeeper = isFiller || toIndentation(line.text) > toIndentation(first)
    if (isDeeper && entries.length > 0) entries.at(-1)!.push(line)
    else if (line.text.trim() !== '') entries.push([line])
  }
  return entries
}

function toIndentation(line: string): number {
  return line.length - line.trimStart().length
}

function isValid(lines: readonly string[]): boolean {
  const doc = parseYaml(lines.join('\n'))
  return doc !== undefined && doc.errors.length === 0 && isMap(doc.contents)
}

function indentRest(line: string, index: number): string {
  return index > 0 && line !== '' ? `  ${line}` : line
}

function tryLines(piece: Piece, lines: readonly string[], state: Conversion): boolean {
  const source = lines.join('\n')
  const doc = parseYaml(source)
  if (!doc || doc.errors.length > 0 || !isMap(doc.contents)) return false
  addMapping(state, doc, source, piece.line)
  return true
}

/** Quotes the value of a line that YAML would reject or misread; returns other lines unchanged. */
function fixLine(line: string): string {
  const indented = line.replace(/^(?:&nbsp;|[\t\u00A0])+[ \t]*/, '  ')
  const match = /^( {0,64}(?:- )?(?:"[^"]*"|'[^']*'|[^\s:#"'[\]{},&*!|>%@`-][^\s:]*)[ \t]{0,8}:[ \t])(.*)$/.exec(
    indented,
  )
  const value = match?.[2]?.trim() ?? ''
  if (!match || value === '' || value.startsWith('#')) return indented
  return match[1] + fixValue(value)
}

function fixValue(value: string): string {
  const first = value[0]!
  if (first === '"' || first === "'") return isQuoted(value) ? value : toQuoted(stripQuotes(value))
  if (first === '[' || first === '{') return value.replace(/([[,]\s{0,8})([@`%][^,[\]{}"']*)/g, "$1'$2'")
  if (/^[|>][-+0-9]{0,2}\s*(?:#.*)?$/.test(value)) return value
  const isRefused = value.includes(': ') || value.endsWith(':') || /^[*&!|>%@`,\]}?-]/.test(value)
  return isRefused ? toQuoted(value) : value
}

function isQuoted(value: string): boolean {
  return /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')$/.test(value)
}

/** Extracts the text of a value with broken quotes; a trailing comma is left over from JSON. */
function stripQuotes(value: string): string {
  const text = value.endsWith(',') ? value.slice(0, -1) : value
  const isWrapped = text.length > 1 && text.at(-1) === text[0]
  return isWrapped ? text.slice(1, -1) : dropOpenQuote(value)
}

/** The text without a quote at its beginning that has no closing quote. */
function dropOpenQuote(text: string): string {
  return /^["']/.test(text) && !text.slice(1).includes(text[0]!) ? text.slice(1) : text
}

function readAsText(piece: Piece): string {
  const [first = '', ...rest] = piece.lines
  const head = first.slice(first.indexOf(':', piece.key.length) + 1).trim()
  const lines = [/^[|>][-+0-9]{0,2}$/.test(head) ? '' : head, ...rest.map((line) => line.trim())]
  return dropOpenQuote(lines.join('\n').trim())
}

/** Double quotes, the only YAML quotes that can express line ends; YAML's escapes include those of JSON. */
function toQuoted(text: string): string {
  return JSON.stringify(text)
}
