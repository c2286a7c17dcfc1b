import type { WordPart } from './shell-syntax.ts'
import { empty, isKnown, joinValues, transform, unknown, withFacts, type Value } from './shell-value.ts'
import { expandText, type WordSource } from './shell-words.ts'

type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>
type Operation = NonNullable<Parameter['operation']>

/** The values of `${name}` with its operation, several for an array. */
export function expandParameter(part: Parameter, source: WordSource): readonly Value[] {
  const { prefix, operation, index } = part
  if (prefix === '#') return [unknown]
  const name = prefix === '!' ? source.readVariable(part.parameter).text : part.parameter
  if (operation?.type === 'Names') return [unknown]
  const values = readValues(name, index === undefined ? undefined : expandText(index, source).text, source)
  if (!operation) return values
  if (operation.type === 'Slice' && values.length > 1) return sliceArray(values, operation, source)
  return values.map((value) => operate(value, operation, name, source))
}

function readValues(name: string, index: string | undefined, source: WordSource): readonly Value[] {
  const isWhole = index === '@' || index === '*' || name === '@' || name === '*'
  const elements = source.readArray(name === '*' ? '@' : name)
  if (!isWhole) {
    if (elements && index !== undefined) return [elements[Number(index)] ?? joinValues(elements)]
    return [source.readVariable(name)]
  }
  if (!elements) return [source.readVariable(name)]
  if (index !== '*') return elements
  const separator = source.readVariable('IFS')
  return [joinValues(elements, isKnown(separator) ? separator.text.slice(0, 1) : ' ')]
}

function sliceArray(
  values: readonly Value[],
  { offset, length }: Extract<Operation, { type: 'Slice' }>,
  source: WordSource,
): readonly Value[] {
  const start = Number(expandText(offset, source).text)
  const count = length === undefined ? undefined : Number(expandText(length, source).text)
  return Number.isNaN(start) ? values : values.slice(start, count === undefined ? undefined : start + count)
}

function operate(value: Value, operation: Operation, name: string, source: WordSource): Value {
  switch (operation.type) {
    case 'Default': {
      const operand = expandText(operation.operand, source)
      if (operation.operator.endsWith('?')) return value
      if (operation.operator.endsWith('+')) return operand
      const isSet = isKnown(value) && value.text !== ''
      if (!isSet && operation.operator.endsWith('=')) source.setVariable(name, operand)
      return isSet ? value : withFacts(operand, value.facts)
    }
    case 'Slice':
      return slice(
        value,
        expandText(operation.offset, source),
        operation.length && expandText(operation.length, source),
      )
    case 'Replace':
      return replace(value, operation, source)
    case 'Remove':
      return remove(value, operation.operator, expandText(operation.operand, source).text)
    case 'CaseModification': {
      const isUpper = operation.operator.startsWith('^')
      const change = (text: string) => (isUpper ? text.toUpperCase() : text.toLowerCase())
      const isAll = operation.operator.length === 2
      return { ...value, text: isAll ? change(value.text) : change(value.text.slice(0, 1)) + value.text.slice(1) }
    }
    default:
      return value
  }
}

function slice(value: Value, offset: Value, length: Value | undefined): Value {
  const start = Number(offset.text.trim())
  const count = length === undefined ? undefined : Number(length.text.trim())
  if (!isKnown(value) || Number.isNaN(start) || Number.isNaN(count ?? 0)) return transform(value, 'slice', undefined)
  const from = start < 0 ? Math.max(0, value.text.length + start) : start
  const end = count === undefined ? undefined : count < 0 ? count : from + count
  return transform(value, 'slice', value.text.slice(from, end))
}

function replace(value: Value, operation: Extract<Operation, { type: 'Replace' }>, source: WordSource): Value {
  const pattern = toPattern(expandText(operation.pattern, source).text)
  const replacement = expandText(operation.replacement, source)
  if (!pattern || !isKnown(value)) return withFacts(value, replacement.facts)
  const start = operation.operator === '/#' ? '^' : ''
  const end = operation.operator === '/%' ? '$' : ''
  const found = new RegExp(`${start}${pattern}${end}`, operation.operator === '//' ? 'g' : '')
  if (!found.test(value.text)) return value
  const text = value.text.replace(new RegExp(found.source, found.flags), () => replacement.text)
  return withFacts(transform(value, 'replacement', text), replacement.facts)
}

/** A glob pattern of a fixed length as the source of an expression; undefined if it has `*`, or is too long. */
function toPattern(glob: string): string | undefined {
  if (glob === '' || glob.length > 100 || /[*\uFFFC]/.test(glob)) return undefined
  let source = ''
  for (const [piece] of glob.matchAll(/\[[!^]?[\w\s.,:;@#%&=+~-]{1,80}\]|[^]/g)) {
    if (piece === '?') source += '[^]'
    else if (piece.length > 1) source += toClass(piece)
    else source += piece.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\\$&`)
  }
  return source
}

/** `[!a-z]` with its ranges. */
function toClass(glob: string): string {
  const isNegated = /^\[[!^]/.test(glob)
  const inner = glob.slice(isNegated ? 2 : 1, -1)
  const isValid = !/\[|(\w)-(?!\1)(\w)/.test(inner) || [...inner.matchAll(/(\w)-(\w)/g)].every(([, a, b]) => a! <= b!)
  return isValid ? `[${isNegated ? '^' : ''}${inner.replace(/[\\\]^]/g, String.raw`\$&`)}]` : '[^]'
}

/** `${x%.sh}` removes a fixed text, with or without `*` before or after it. */
function remove(value: Value, operator: string, pattern: string): Value {
  const { text } = value
  const isStart = operator.startsWith('#')
  const isLong = operator.length === 2
  const fixed = pattern.replace(isStart ? /^\*/ : /\*$/, '')
  if (!isKnown(value) || /[*?[\uFFFC]/.test(fixed)) return { ...value, made: [] }
  if (fixed.length === pattern.length) {
    if (isStart) return text.startsWith(fixed) ? { ...value, text: text.slice(fixed.length) } : value
    return text.endsWith(fixed) ? { ...value, text: text.slice(0, text.length - fixed.length) } : value
  }
  if (fixed === '') return isLong ? empty : value
  const at = isStart === isLong ? text.lastIndexOf(fixed) : text.indexOf(fixed)
  if (at === -1) return value
  return { ...value, text: isStart ? text.slice(at + fixed.length) : text.slice(0, at) }
}
