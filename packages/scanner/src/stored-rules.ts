import { pack, unpack } from './packed.ts'
import type { Combination, Fact, Flow, Pattern, Rule, Together } from './rule.ts'
import { namesLookAlike } from './rules/popular-packages.ts'

/** Everything that is found in texts. */
export interface TextRules {
  readonly rules: readonly Rule[]
  readonly facts: readonly Fact[]
  readonly combinations: readonly Combination[]
}

type StoredExpression = readonly [source: string, flags?: string]
type StoredPattern = Pattern<StoredExpression, string>
type Stored<T> = Omit<T, 'patterns'> & { readonly patterns: readonly StoredPattern[] }

interface StoredRules {
  readonly rules: readonly Stored<Rule>[]
  readonly facts: readonly Stored<Fact>[]
  readonly combinations: readonly Combination[]
}

/** The functions of patterns, by the names under which they are stored. */
const functions: Readonly<Record<string, (text: string) => boolean>> = { namesLookAlike }

/** Writes rules, for {@link readStoredRules}. Throws a `TypeError` if a pattern has an unknown function. */
export function storeRules({ rules, facts, combinations }: TextRules): string {
  return pack({ rules: rules.map(storeProbe), facts: facts.map(storeProbe), combinations } satisfies StoredRules)
}

/** Reads what {@link storeRules} wrote. */
export function readStoredRules(stored: string): TextRules {
  const { rules, facts, combinations } = unpack<StoredRules>(stored)
  return { rules: rules.map(readProbe), facts: facts.map(readProbe), combinations }
}

function storeProbe<T extends Rule | Fact>(probe: T) {
  return { ...probe, patterns: probe.patterns.map((pattern) => mapPattern(pattern, toStored, toName)) }
}

function readProbe<T extends Stored<Rule | Fact>>(probe: T) {
  return { ...probe, patterns: probe.patterns.map((pattern) => mapPattern(pattern, toExpression, toFunction)) }
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
