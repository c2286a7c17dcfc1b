import { RegExpParser, type AST } from '@eslint-community/regexpp'

/**
 * Parses by the grammar of ECMA-262 without its annex B, in which a mistake such as `\p{L}` means something else. The
 * version has no modifiers, which the scanner does not read.
 */
const parser = new RegExpParser({ strict: true, ecmaVersion: 2024 })

interface Measures {
  /**
   * The most ways in which the expression can match at one position of a text, estimated from above: an expression
   * that fails has tried all of them. Exponential backtracking, as of `(a|a){0,50}`, exceeds every limit. Infinite for
   * unbounded repetitions.
   */
  readonly ways: number
  /** The least number of characters of a match. */
  readonly charactersMin: number
}

/** Measures an expression. Throws an error for a syntax error, a backreference and a named group. */
export function measureExpression(source: string): Measures {
  const { alternatives } = parser.parsePattern(source)
  return { ways: ofAlternatives(alternatives), charactersMin: toLeast(alternatives) }
}

function toLeast(alternatives: readonly AST.Alternative[]): number {
  return Math.min(...alternatives.map(({ elements }) => elements.reduce((sum, element) => sum + toLeastOf(element), 0)))
}

function toLeastOf(element: AST.Element): number {
  if (element.type === 'Assertion') return 0
  if (element.type === 'Quantifier') return element.min * toLeastOf(element.element)
  return 'alternatives' in element ? toLeast(element.alternatives) : 1
}

/** Alternatives that begin differently exclude each other: counts the largest number that one text can match. */
function ofAlternatives(alternatives: readonly AST.Alternative[]): number {
  const all = alternatives.map(({ elements }) => ({ ways: ofSequence(elements), start: toStart(elements) }))
  return Math.max(
    ...all.map(({ start }) => {
      return all.reduce((sum, other) => (areCompatible(start, other.start) ? sum + other.ways : sum), 0)
    }),
  )
}

/** The characters with which all matches begin, in the case in which RegExp compares (ECMA-262, Canonicalize). */
function toStart(elements: readonly AST.Element[]): string {
  const consuming = elements.filter(({ type }) => type !== 'Assertion')
  const end = consuming.findIndex(({ type }) => type !== 'Character')
  const characters = consuming.slice(0, end === -1 ? consuming.length : end)
  return characters.map((each) => String.fromCodePoint((each as AST.Character).value).toUpperCase()).join('')
}

function areCompatible(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

function ofSequence(elements: readonly AST.Element[]): number {
  return elements.reduce((ways, element, index) => ways * ofElement(element, elements[index + 1]), 1)
}

function ofElement(element: AST.Element, next: AST.Element | undefined): number {
  switch (element.type) {
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return 1
    case 'Assertion':
      return 'alternatives' in element ? ofAlternatives(element.alternatives) : 1
    case 'Group':
      return ofAlternatives(element.alternatives)
    case 'CapturingGroup':
      if (element.name !== null) throw new TypeError(`The named group ${element.raw} is not allowed.`)
      return ofAlternatives(element.alternatives)
    case 'Quantifier':
      return ofRepetition(element, next)
    case 'Backreference':
      throw new TypeError(`The backreference ${element.raw} is not allowed.`)
  }
}

function ofRepetition({ min, max, element }: AST.Quantifier, next: AST.Element | undefined): number {
  if (max === Infinity) return Infinity
  // The first character that is not repeated decides how often the others are.
  if (next && isCharacter(element) && isCharacter(next) && areDisjoint(element.raw, next.raw)) return 1
  const each = ofElement(element, undefined)
  if (each === 1) return max - min + 1
  let ways = 0
  for (let times = min; times <= max && ways < Infinity; times++) ways += each ** times
  return ways
}

function isCharacter({ type }: AST.Element): boolean {
  return type === 'Character' || type === 'CharacterSet' || type === 'CharacterClass'
}

/** Whether no character matches both atoms. */
function areDisjoint(one: string, other: string): boolean {
  const [some, others] = [toCharacters(one), toCharacters(other)]
  return !some.some((isMatch, code) => isMatch === 1 && others[code] === 1)
}

/** Testing all characters takes milliseconds, and the same few atoms occur in most expressions. */
const charactersOf = new Map<string, Uint8Array>()

function toCharacters(atom: string): Uint8Array {
  const known = charactersOf.get(atom)
  if (known) return known
  const expression = new RegExp(`^${atom}$`, 'is')
  const made = Uint8Array.from({ length: 0x1_0000 }, (_, code) => Number(expression.test(String.fromCharCode(code))))
  if (charactersOf.size === atomsMax) charactersOf.clear()
  charactersOf.set(atom, made)
  return made
}

const atomsMax = 100
