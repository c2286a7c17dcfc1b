import { expandParameter } from './shell-parameters.ts'
import type { Script, Word, WordPart } from './shell-syntax.ts'
import { empty, joinValues, toValue, transform, unknown, type Value } from './shell-value.ts'

/** What the expansion of words needs from the script. */
export interface WordSource {
  readVariable(name: string): Value
  /** The elements of an array; undefined if the variable is none. */
  readArray(name: string): readonly Value[] | undefined
  setVariable(name: string, value: Value): void
  /** Runs a command substitution; returns its output. */
  runScript(script: Script | undefined): Value
  /** Runs a process substitution; returns the path of its output or input. */
  openProcess(script: Script | undefined, operator: '<' | '>'): Value
}

/** The result of one part of a word. */
export interface Piece {
  /** Several values are several words, or alternatives of one word. */
  readonly values: readonly Value[]
  readonly kind: 'text' | 'words' | 'alternatives'
  readonly isQuoted: boolean
}

const fieldsMax = 256
const alternativesMax = 32
const partsMax = 400

/** The words that a word expands to. */
export function expandFields(word: Word, source: WordSource): Value[] {
  return toFields(expandPieces(word, source))
}

export function toFields(pieces: readonly Piece[]): Value[] {
  const fields: Value[] = []
  let open: Value[] = [empty]
  let isQuoted = false
  for (const piece of pieces) {
    isQuoted ||= piece.isQuoted
    const [first, ...more] = piece.values
    if (first === undefined) continue
    if (piece.kind === 'alternatives') {
      open = open.flatMap((start) => piece.values.map((end) => joinValues([start, end]))).slice(0, alternativesMax)
      continue
    }
    open = open.map((start) => (start === empty ? first : joinValues([start, first])))
    if (more.length === 0) continue
    fields.push(...open, ...more.slice(0, -1))
    open = [more.at(-1)!]
  }
  if (isQuoted || open.some(({ text }) => text !== '')) fields.push(...open)
  return fields.slice(0, fieldsMax)
}

/** The word as a single text, as in an assignment. */
export function expandText(word: Word | undefined, source: WordSource): Value {
  if (!word) return empty
  if (!isExpanded(word)) return toValue(word.value)
  return joinValues(word.parts.flatMap((part) => expandPart(part, source, true).values))
}

export function expandPieces(word: Word, source: WordSource): Piece[] {
  if (!isExpanded(word)) return [text(toValue(word.value), false)]
  return word.parts.map((part) => expandPart(part, source, false))
}

type ExpandedWord = Word & { readonly parts: readonly WordPart[] }

/** A word of very many parts is no code, and counts as text. */
const isExpanded = (word: Word): word is ExpandedWord => word.parts !== undefined && word.parts.length <= partsMax

/** A text with expansions, such as the body of a here-document. */
export function expandParts(parts: readonly WordPart[], source: WordSource): Value {
  return joinValues(parts.flatMap((part) => expandPart(part, source, true).values))
}

/** Escapes of letters and digits, which never need one. */
export const hidesLetters = /\\(?:x[3-7][\da-f]|u00[3-7][\da-f]|0?(?:6[0-7]|7[01]|1[0-7]{2}))/i

const text = (value: Value, isQuoted: boolean): Piece => ({ values: [value], kind: 'text', isQuoted })

function expandPart(part: WordPart, source: WordSource, isQuoted: boolean): Piece {
  switch (part.type) {
    case 'Literal':
    case 'Glob':
      return text(toValue(part.value), false)
    case 'SingleQuoted':
      return text(toValue(part.value), true)
    case 'AnsiCQuoted': {
      const isEscaped = hidesLetters.test(part.text)
      return text(isEscaped ? transform(toValue(''), 'escapes', part.value) : toValue(part.value), true)
    }
    case 'DoubleQuoted':
    case 'LocaleString':
      return expandQuoted(part.parts, source)
    case 'SimpleExpansion':
      return split(expandSimple(part.text.slice(1), source), isQuoted)
    case 'ParameterExpansion':
      return split(expandParameter(part, source), isQuoted)
    case 'CommandExpansion':
      return split([source.runScript(part.script)], isQuoted)
    case 'ProcessSubstitution':
      return text(source.openProcess(part.script, part.operator), true)
    case 'BraceExpansion':
      return { values: expandBraces(part.text), kind: 'alternatives', isQuoted: false }
    case 'ArithmeticExpansion':
      return text(toNumber(part.text), false)
    default:
      return text(toValue(part.text), false)
  }
}

function expandQuoted(parts: readonly WordPart[], source: WordSource): Piece {
  const pieces = parts.map((part) => expandPart(part, source, true))
  if (pieces.length === 1) return { ...pieces[0]!, isQuoted: true }
  return text(joinValues(pieces.flatMap(({ values }) => values)), true)
}

function expandSimple(name: string, source: WordSource): readonly Value[] {
  if (name === '@' || name === '*') return source.readArray('@') ?? [unknown]
  return [source.readVariable(name)]
}

/** Unquoted values are split into words. */
function split(values: readonly Value[], isQuoted: boolean): Piece {
  if (isQuoted) return { values, kind: values.length === 1 ? 'text' : 'words', isQuoted }
  const words = values.flatMap((value) => {
    if (!/\s/.test(value.text)) return value
    return value.text
      .split(/\s+/, fieldsMax)
      .filter((word) => word !== '')
      .map((word) => ({ ...value, text: word }))
  })
  return { values: words, kind: 'words', isQuoted }
}

/** `{a,b}`, and ranges of characters as one unknown word. */
function expandBraces(source: string): Value[] {
  const inner = source.slice(1, -1)
  if (!inner.includes(',') || inner.includes('{')) return [toValue(source)]
  return inner.split(',', alternativesMax).map((word) => toValue(word.replace(/["'\\]/g, '')))
}

/** `$((1 + 2))` with at most one operator. */
function toNumber(source: string): Value {
  const match = /^\$\(\(\s*(\d{1,6})(?:\s*([-+*])\s*(\d{1,6}))?\s*\)\)$/.exec(source)
  if (!match) return unknown
  const [left, right] = [Number(match[1]), Number(match[3] ?? 0)]
  const result = match[2] === '*' ? left * right : match[2] === '-' ? left - right : left + right
  return toValue(String(result))
}
