import { pack, unpack } from '../match/packed.ts'
import type { Combination, Fact, Flow, Pattern, Rule, Together } from '../match/rule.ts'
import { aliasLooksAlike, gemLooksAlike, imageLooksAlike } from './look-alike-names.ts'
import { namesLookAlike } from './popular-packages.ts'

/** Everything that is found in texts. */
export interface TextRules {
  readonly rules: readonly Rule[]
  readonly facts: readonly Fact[]
  readonly combinations: readonly Combination[]
}

type StoredExpression = readonly [source: string, flags?: string]
type StoredPattern = Pattern<StoredExpression, string>

/** The functions of patterns, by the names under which they are stored. */
const functions: Readonly<Record<string, (text: string) => boolean>> = {
  namesLookAlike,
  aliasLooksAlike,
  imageLooksAlike,
  gemLooksAlike,
}

/** Writes rules, for {@link readStoredRules}. Throws a `TypeError` if a pattern has an unknown function. */
export function storeRules({ rules, facts, combinations }: TextRules): string {
  const head = { rules: rules.map(withoutPatterns), facts: facts.map(withoutPatterns), combinations }
  const patterns = [...rules, ...facts].map((probe) =>
    probe.patterns.map((pattern) => mapPattern(pattern, toStored, toName)),
  )
  return pack([head, ...patterns])
}

const withoutPatterns = <T extends Rule | Fact>({ patterns: _patterns, ...others }: T) => others

/** Reads what {@link storeRules} wrote. Patterns are read on first use: a scan needs few. */
export function readStoredRules(stored: string): TextRules {
  const [head, ...lines] = unpack(stored)
  const { rules, facts, combinations } = JSON.parse(head!) as TextRules
  const readProbe = <T extends Rule | Fact>(probe: T, index: number) =>
    defineLater(probe, 'patterns', () => readPatterns(lines[index]!))
  return {
    rules: rules.map(readProbe),
    facts: facts.map((fact, index) => readProbe(fact, rules.length + index)),
    combinations,
  }
}

function readPatterns(line: string): readonly Pattern[] {
  const patterns: Pattern[] = []
  for (const [index, stored] of (JSON.parse(line) as StoredPattern[]).entries()) {
    defineLater(patterns, index, () => mapPattern(stored, toExpression, toFunction))
  }
  return patterns
}

/** Defines a property that is computed on first use. Returns the object. */
function defineLater<T extends object>(of: T, key: PropertyKey, compute: () => unknown): T {
  const get = () => {
    const value = compute()
    Object.defineProperty(of, key, { value })
    return value
  }
  return Object.defineProperty(of, key, { enumerable: true, configurable: true, get })
}

const toStored = ({ source, flags }: RegExp): StoredExpression => (flags === '' ? [source] : [source, flags])
const toExpression = ([source, flags]: StoredExpression) => new RegExp(source, flags)
const toFunction = (name: string) => functions[name]!

function toName(used: (text: string) => boolean): string {
  const found = Object.keys(functions).find((name) => functions[name] === used)
  if (found === undefined) throw new TypeError(`The function ${used.name} of a pattern cannot be stored.`)
  return found
}

/** The same pattern with its expressions and functions in another form. */
function mapPattern<E extends object, F, E2, F2>(
  pattern: Pattern<E, F>,
  toOther: (expression: E) => E2,
  toOtherFunction: (used: F) => F2,
): Pattern<E2, F2> {
  if (!('match' in pattern)) return mapMatch(pattern, toOther)
  const { isMeant, match, ...rest } = pattern
  const mapped = { ...rest, match: mapMatch(match, toOther) }
  return isMeant === undefined ? mapped : { ...mapped, isMeant: toOtherFunction(isMeant) }
}

function mapMatch<E extends object, E2>(
  match: E | Flow<E> | Together<E>,
  toOther: (expression: E) => E2,
): E2 | Flow<E2> | Together<E2> {
  if ('all' in match) {
    const { all, stop, unless, withinMax } = match
    return { all: all.map(toOther), stop: toOther(stop), unless: toOther(unless), withinMax }
  }
  if (!('first' in match)) return toOther(match)
  const { first, last, stop, withinMax } = match
  return { first: toOther(first), last: toOther(last), stop: toOther(stop), withinMax }
}
