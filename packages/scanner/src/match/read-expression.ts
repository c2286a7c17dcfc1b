import { createRequire } from 'node:module'
import type * as regexpp from '@eslint-community/regexpp'
import type { AST } from '@eslint-community/regexpp'

// The parser is loaded on first use, because published packages contain the traits of built-in rules. Bundled programs
// contain it.
const require = createRequire(import.meta.url)

/** A need of an expression: texts of which every match contains at least one. */
export interface Need {
  /** The texts, in lower case. */
  readonly texts: readonly string[]
  /** Maximum number of characters of a match before the end of a text, and after its beginning. */
  readonly before: number
  readonly after: number
}

/** Properties of all matches of an expression. */
export interface ExpressionTraits {
  readonly charactersMin: number
  /** `Infinity` for an unbounded repetition or a backreference. */
  readonly charactersMax: number
  /**
   * The most ways in which the expression can match at one position of a text, estimated from above: an expression
   * that fails has tried all of them. Exponential backtracking, as of `(a|a){0,50}`, exceeds every limit. Infinite for
   * unbounded repetitions.
   */
  readonly ways: number
  /** Number of characters that lookaheads examine after a match. */
  readonly ahead: number
  /** The rarest needs, in this order; none if the expression has no texts of three characters. */
  readonly needs: readonly Need[]
}

/** A part of an expression. */
interface Part extends ExpressionTraits {
  /** All texts that the part matches, if they are few; the part then has no needs. */
  readonly texts?: readonly string[]
}

let parser: regexpp.RegExpParser | undefined

/**
 * Parses an expression by the grammar of ECMA-262 without its annex B, in which a mistake such as `\p{L}` means something
 * else. Throws a syntax error, or a range error for groups that are nested too deeply.
 */
export function parseExpression(source: string): AST.Pattern {
  const { RegExpParser }: typeof regexpp = require('@eslint-community/regexpp')
  parser ??= new RegExpParser({ strict: true, ecmaVersion: 2024 })
  try {
    return parser.parsePattern(source)
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError('An expression has groups that are nested too deeply.')
    throw error
  }
}

/** Reads an expression. Throws a syntax error. */
export function readExpression({ source }: RegExp): ExpressionTraits {
  const { texts, ...whole } = readAlternatives(parseExpression(source).alternatives)
  return texts ? { ...whole, needs: toNeeds(texts, 0, whole.charactersMax) } : whole
}

/** Maximum number of texts of a {@link Need}. Of more texts, one occurs almost everywhere. */
const needTextsMax = 100
/** Minimum number of characters of each text of a {@link Need}. Shorter texts occur almost everywhere. */
const needCharactersMin = 3
/** Maximum number of needs in the search for an expression: a second one halves its time, a third has no effect. */
export const needsMax = 2
/** Maximum number of texts that an alternation is expanded to, and of combinations of two adjacent parts. */
const alternativeTextsMax = 16
const combinedTextsMax = 6

const nothing: Part = { charactersMin: 0, charactersMax: 0, ways: 1, ahead: 0, needs: [], texts: [''] }
const anyCharacter: Part = { charactersMin: 1, charactersMax: 1, ways: 1, ahead: 0, needs: [] }

function readAlternatives(alternatives: readonly AST.Alternative[]): Part {
  const parts = alternatives.map(({ elements }) => readSequence(elements))
  if (parts.length === 1) return parts[0]!
  const whole = {
    charactersMin: Math.min(...parts.map(({ charactersMin }) => charactersMin)),
    charactersMax: Math.max(...parts.map(({ charactersMax }) => charactersMax)),
    ways: toWaysOfAny(parts, alternatives.map(toLiteralStart)),
    ahead: Math.max(...parts.map(({ ahead }) => ahead)),
  }
  const texts = new Set(parts.flatMap((part) => part.texts ?? []))
  if (texts.size <= alternativeTextsMax && parts.every((part) => part.texts))
    return { ...whole, needs: [], texts: [...texts] }
  const needs = parts.map(listNeeds)
  const count = Math.min(...needs.map(({ length }) => length))
  const united = Array.from({ length: count }, (_, index) => uniteNeeds(needs.map((each) => each[index]!)))
  return { ...whole, needs: united.filter((need) => need.texts.length <= needTextsMax) }
}

/** Alternatives that begin differently exclude each other: counts the largest number that one text can match. */
function toWaysOfAny(parts: readonly Part[], starts: readonly string[]): number {
  const toWays = (start: string) =>
    parts.reduce((sum, { ways }, index) => {
      const other = starts[index]!
      return start.startsWith(other) || other.startsWith(start) ? sum + ways : sum
    }, 0)
  return Math.max(...starts.map(toWays))
}

/** The characters with which all matches begin, in the case in which RegExp compares (ECMA-262, Canonicalize). */
function toLiteralStart({ elements }: AST.Alternative): string {
  const consuming = elements.filter(({ type }) => type !== 'Assertion')
  const end = consuming.findIndex(({ type }) => type !== 'Character')
  const characters = consuming.slice(0, end === -1 ? consuming.length : end).filter((each) => each.type === 'Character')
  return characters.map(({ value }) => String.fromCodePoint(value).toUpperCase()).join('')
}

function readSequence(elements: readonly AST.Element[]): Part {
  const parts = elements.map((element, index) => readElement(element, elements[index + 1]))
  if (parts.length === 1) return parts[0]!
  const charactersMax = parts.reduce((sum, part) => sum + part.charactersMax, 0)
  const whole = {
    charactersMin: parts.reduce((sum, part) => sum + part.charactersMin, 0),
    charactersMax,
    ways: parts.reduce((product, { ways }) => product * ways, 1),
    ahead: Math.max(0, ...parts.map(({ ahead }) => ahead)),
  }
  // The texts of adjacent parts are joined.
  const needs: Need[] = []
  let [texts, textsAt, at]: [readonly string[], number, number] = [[''], 0, 0]
  for (const part of parts) {
    const isSingle = texts.length === 1 || part.texts?.length === 1
    if (part.texts && (isSingle || texts.length * part.texts.length <= combinedTextsMax)) {
      texts = texts.flatMap((text) => part.texts!.map((next) => text + next))
    } else {
      const after = charactersMax - at - part.charactersMax
      needs.push(...toNeeds(texts, textsAt, charactersMax - textsAt), ...spreadNeeds(part.needs, at, after))
      texts = part.texts ?? ['']
      textsAt = part.texts ? at : at + part.charactersMax
    }
    at += part.charactersMax
  }
  if (textsAt === 0 && parts.every((part) => part.texts)) return { ...whole, needs: [], texts }
  return { ...whole, needs: toRarest([...needs, ...toNeeds(texts, textsAt, charactersMax - textsAt)]) }
}

function readElement(element: AST.Element, next: AST.Element | undefined): Part {
  switch (element.type) {
    case 'Character':
      return toCharacters([element])
    case 'CharacterClass': {
      const parts: readonly AST.CharacterClassElement[] = element.elements
      return !element.negate && parts.every(isCharacterOrSpace) ? toCharacters(parts) : anyCharacter
    }
    case 'CharacterSet':
      return isCharacterOrSpace(element) ? toCharacters([element]) : anyCharacter
    case 'ExpressionCharacterClass':
      return anyCharacter
    case 'Assertion': {
      if (!('alternatives' in element)) return nothing
      const { ways, ahead, charactersMax } = readAlternatives(element.alternatives)
      return { ...nothing, ways, ahead: element.kind === 'lookahead' ? charactersMax + ahead : 0 }
    }
    case 'Group':
    case 'CapturingGroup':
      return readAlternatives(element.alternatives)
    case 'Quantifier':
      return readRepetition(element, next)
    case 'Backreference':
      // A backreference matches as much as its group.
      return { ...anyCharacter, charactersMin: 0, charactersMax: Infinity }
  }
}

/** White space is a space in all texts of needs, because folded texts have spaces and line ends alone. */
type CharacterOrSpace = AST.Character | AST.EscapeCharacterSet

function isCharacterOrSpace(element: AST.CharacterClassElement | AST.CharacterSet): element is CharacterOrSpace {
  return element.type === 'Character' || (element.type === 'CharacterSet' && element.raw === String.raw`\s`)
}

function toCharacters(characters: readonly CharacterOrSpace[]): Part {
  const toText = (each: CharacterOrSpace) => ('value' in each ? String.fromCharCode(each.value).toLowerCase() : ' ')
  const texts = new Set(characters.map((each) => toText(each).replace(/\s/, ' ')))
  return texts.size > alternativeTextsMax ? anyCharacter : { ...anyCharacter, texts: [...texts] }
}

function readRepetition({ min, max, element }: AST.Quantifier, next: AST.Element | undefined): Part {
  const part = readElement(element, undefined)
  const whole = {
    charactersMin: min * part.charactersMin,
    charactersMax: part.charactersMax === 0 ? 0 : max * part.charactersMax,
    ways: toWaysOfTimes(part.ways, min, max, element, next),
    ahead: part.ahead,
  }
  if (min === 0 && max === 1 && part.texts) return { ...whole, needs: [], texts: [...new Set(['', ...part.texts])] }
  const others = whole.charactersMax - part.charactersMax
  return { ...whole, needs: min === 0 ? [] : spreadNeeds(listNeeds(part), others, others) }
}

function toWaysOfTimes(each: number, min: number, max: number, element: AST.Element, next?: AST.Element): number {
  if (max === Infinity) return Infinity
  // The first character after the repetition decides how often the repeated character matches.
  if (next && isCharacter(element) && isCharacter(next) && areDisjoint(element.raw, next.raw)) return 1
  if (each === 1) return max - min + 1
  let ways = 0
  for (let times = min; times <= max && ways < Infinity; times++) ways += each ** times
  return ways
}

function isCharacter({ type }: AST.Element): boolean {
  return type === 'Character' || type === 'CharacterSet' || type === 'CharacterClass'
}

/** Whether no character matches both atoms. Cached: the same few atoms occur in most expressions. */
function areDisjoint(one: string, other: string): boolean {
  const both = `(?=${one})${other}`
  const known = disjoint.get(both)
  if (known !== undefined) return known
  allCharacters ??= Array.from({ length: 65_536 }, (_, unit) => String.fromCharCode(unit)).join('')
  const made = !new RegExp(both, 'is').test(allCharacters)
  if (disjoint.size === disjointMax) disjoint.clear()
  disjoint.set(both, made)
  return made
}

const disjoint = new Map<string, boolean>()
const disjointMax = 1000
let allCharacters: string | undefined

function listNeeds({ texts, needs, charactersMax }: Part): readonly Need[] {
  return texts ? toNeeds(texts, 0, charactersMax) : needs
}

/** The need of an expression in which one of `texts` begins at most `at` characters after the start of a match. */
function toNeeds(texts: readonly string[], at: number, after: number): Need[] {
  if (texts.some(({ length }) => length < needCharactersMin)) return []
  // Of two texts of which one contains the other, the shorter one is enough: every longer text contains it.
  const least = texts.filter((text) => !texts.some((other) => other !== text && text.includes(other)))
  return [{ texts: least, before: at + Math.max(...texts.map(({ length }) => length)), after }]
}

/** The needs of a part as needs of a longer expression, with `before` and `after` more characters around the part. */
export function spreadNeeds(needs: readonly Need[], before: number, after: number): Need[] {
  return needs.map((need) => ({ texts: need.texts, before: need.before + before, after: need.after + after }))
}

function uniteNeeds(needs: readonly Need[]): Need {
  return {
    texts: [...new Set(needs.flatMap(({ texts }) => texts))],
    before: Math.max(...needs.map(({ before }) => before)),
    after: Math.max(...needs.map(({ after }) => after)),
  }
}

/** The rarest needs, the rarest first; at most `needsMax`. */
export function toRarest(needs: readonly Need[]): readonly Need[] {
  return needs.toSorted((one, other) => toFrequency(one) - toFrequency(other)).slice(0, needsMax)
}

/** Estimates how often the texts of a need occur, by their length. Frequencies of letters would make no difference. */
function toFrequency({ texts }: Need): number {
  return texts.reduce((sum, { length }) => sum + 5 ** -length, 0)
}
