import type { Shell } from './state.ts'
import type { Word, WordPart } from './shell-syntax.ts'
import { empty, isKnown, joinValues, toShellValue, transformValue, unknown, unknownPart, withFacts } from './value.ts'
import type { Value } from './value.ts'

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
export function expandFields(word: Word, shell: Shell): Value[] {
  return toFields(expandPieces(word, shell))
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
export function expandText(word: Word | undefined, shell: Shell): Value {
  if (!word) return empty
  return isExpanded(word) ? expandParts(word.parts, shell) : shell.literal(word.value)
}

export function expandPieces(word: Word, shell: Shell): Piece[] {
  if (!isExpanded(word)) return [toPiece(shell.literal(word.value), false)]
  return word.parts.map((part) => expandPart(part, shell, false))
}

/** A text with expansions, such as the body of a here-document. */
export function expandParts(parts: readonly WordPart[], shell: Shell): Value {
  return joinValues(parts.flatMap((part) => expandPart(part, shell, true).values))
}

type ExpandedWord = Word & { readonly parts: readonly WordPart[] }

/** A word of very many parts is no code, and counts as text. */
const isExpanded = (word: Word): word is ExpandedWord => word.parts !== undefined && word.parts.length <= partsMax

/** Escapes of letters and digits, which never need an escape. */
export const hidesLetters = /\\(?:x[3-7][\da-f]|u00[3-7][\da-f]|0?(?:6[0-7]|7[01]|1[0-7]{2}))/i

const toPiece = (value: Value, isQuoted: boolean): Piece => ({ values: [value], kind: 'text', isQuoted })

function expandPart(part: WordPart, shell: Shell, isQuoted: boolean): Piece {
  switch (part.type) {
    case 'Literal':
    case 'Glob':
      return toPiece(shell.literal(part.value), false)
    case 'SingleQuoted':
      return toPiece(shell.literal(part.value), true)
    case 'AnsiCQuoted': {
      const isEscaped = hidesLetters.test(part.text)
      return toPiece(isEscaped ? transformValue(empty, 'escapes', part.value) : toShellValue(part.value), true)
    }
    case 'DoubleQuoted':
    case 'LocaleString':
      return expandQuoted(part.parts, shell)
    case 'SimpleExpansion':
      return splitPieces(readShellVariable(part.text.slice(1), undefined, shell), isQuoted)
    case 'ParameterExpansion':
      return splitPieces(expandParameter(part, shell), isQuoted)
    case 'CommandExpansion':
      return splitPieces([shell.runScript(part.script)], isQuoted)
    case 'ProcessSubstitution':
      return toPiece(shell.openProcess(part.script, part.operator), true)
    case 'BraceExpansion':
      return { values: expandBraces(part.text), kind: 'alternatives', isQuoted: false }
    case 'ArithmeticExpansion':
      return toPiece(unknown, false)
    default:
      return toPiece(toShellValue(part.text), false)
  }
}

function expandQuoted(parts: readonly WordPart[], shell: Shell): Piece {
  const pieces = parts.map((part) => expandPart(part, shell, true))
  if (pieces.length === 1) return { ...pieces[0]!, isQuoted: true }
  return toPiece(joinValues(pieces.flatMap(({ values }) => values)), true)
}

/** Unquoted values are split into words. */
function splitPieces(values: readonly Value[], isQuoted: boolean): Piece {
  if (isQuoted) return { values, kind: values.length === 1 ? 'text' : 'words', isQuoted }
  const words = values.flatMap((value) => {
    if (!/\s/.test(value.text)) return value
    const texts = value.text.split(/\s+/, fieldsMax).filter((word) => word !== '')
    return texts.map((text) => ({ ...value, text }))
  })
  return { values: words, kind: 'words', isQuoted }
}

/** Expands `{a,b}`. Ranges of characters and nested braces stay a text. */
function expandBraces(source: string): Value[] {
  const inner = source.slice(1, -1)
  if (!inner.includes(',') || inner.includes('{')) return [toShellValue(source)]
  return inner.split(',', alternativesMax).map((word) => toShellValue(word.replace(/["'\\]/g, '')))
}

type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>
type Operation = NonNullable<Parameter['operation']>

/** The values of `${name}` with its operation, several for an array. */
function expandParameter({ prefix, operation, index, parameter }: Parameter, shell: Shell): readonly Value[] {
  if (prefix === '#' || operation?.type === 'Names') return [unknown]
  const name = prefix === '!' ? shell.variables.read(parameter).text : parameter
  const values = readShellVariable(name, index && expandText(index, shell).text, shell)
  return operation ? values.map((value) => applyExpansion(value, operation, name, shell)) : values
}

function readShellVariable(name: string, index: string | undefined, { variables }: Shell): readonly Value[] {
  const isList = name === '@' || name === '*'
  const elements = variables.readArray(isList ? '@' : name)
  if (!elements) return [isList ? unknown : variables.read(name)]
  if (isList || index === '@') return elements
  if (index === '*') return [joinValues(elements, variables.read('IFS').text.slice(0, 1))]
  return [index === undefined ? variables.read(name) : (elements[Number(index)] ?? joinValues(elements))]
}

function applyExpansion(value: Value, operation: Operation, name: string, shell: Shell): Value {
  switch (operation.type) {
    case 'Default': {
      const operand = expandText(operation.operand, shell)
      if (operation.operator.endsWith('?')) return value
      if (operation.operator.endsWith('+')) return operand
      const isSet = isKnown(value) && value.text !== ''
      if (!isSet && operation.operator.endsWith('=')) shell.variables.set(name, operand)
      return isSet ? value : withFacts(operand, value.facts)
    }
    case 'Slice':
      return sliceValue(
        value,
        expandText(operation.offset, shell),
        operation.length && expandText(operation.length, shell),
      )
    case 'Replace': {
      const [pattern, by] = [expandText(operation.pattern, shell), expandText(operation.replacement, shell)]
      const from = withFacts(value, by.facts)
      if (!isKnown(value) || !value.text.includes(pattern.text)) return from
      const isAll = operation.operator === '//'
      const text = value.text[isAll ? 'replaceAll' : 'replace'](pattern.text, () => by.text)
      return transformValue(from, 'replacement', text)
    }
    case 'CaseModification': {
      const isUpper = operation.operator.startsWith('^')
      return { ...value, text: isUpper ? value.text.toUpperCase() : value.text.toLowerCase() }
    }
    // `${path%/*}` and the like select a part.
    default:
      return transformValue(value, operation.type, undefined)
  }
}

function sliceValue(value: Value, offset: Value, length: Value | undefined): Value {
  const start = Number(offset.text.trim())
  const count = length === undefined ? undefined : Number(length.text.trim())
  if (!isKnown(value) || Number.isNaN(start) || Number.isNaN(count ?? 0))
    return transformValue(value, 'slice', undefined)
  const from = start < 0 ? Math.max(0, value.text.length + start) : start
  const end = count === undefined ? undefined : count < 0 ? count : from + count
  return transformValue(value, 'slice', value.text.slice(from, end))
}

/** Programs whose names a script only takes apart to hide them. */
const telling: ReadonlySet<string> = new Set(
  `curl wget nc ncat netcat socat bash sh zsh dash ksh eval exec source python python3 perl ruby node php base64 xxd
  openssl rm dd sudo chmod crontab ssh scp cat printenv env rev tr`.split(/\s+/),
)

/**
 * How the name of a command is taken apart, such as `c"u"rl`, `$A$B` and `$'\x63url'`; undefined if it is not. A
 * variable with the whole name, and `"$folder/program"`, are usual and do not count.
 */
export function findDisguise(word: Word, pieces: readonly Piece[], name: Value): string | undefined {
  if (!isKnown(name) || !isTelling(name.text)) return undefined
  if (name.made.length > 0) return name.made[0]
  const plain = word.text.replace(/^\\(?=\w)/, '').replace(/^(["'])([^"'\\$`]*)\1$/, '$2')
  if (plain === name.text) return undefined
  const isWhole = pieces.some(({ values }) =>
    values.some(({ text }) => text !== '' && name.text.includes(text) && isTelling(text)),
  )
  return isWhole ? undefined : 'concatenation'
}

const isTelling = (text: string) => telling.has(text.slice(text.lastIndexOf('/') + 1))

/** Whether a text contains the name of a program that scripts take apart only to hide it. */
export const namesProgram = (text: string) => text.split(/[^\w-]+/, 500).some((word) => telling.has(word))

/** Whether an unknown text is at the position of a command. Names and versions in a command are not code. */
export const hasUnknownCommand = ({ text }: Value) => unknownCommand.test(text)

const unknownCommand = new RegExp(`(?:^|[;&|(\\n\`]|\\b(?:then|do|else|sudo|exec|eval)\\s)\\s*${unknownPart}`)
