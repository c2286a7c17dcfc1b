import { regex, regexWith } from '../text/regex.ts'
import type { Pattern, Rule } from '../match/rule.ts'
import { bundleLimits } from './bundle-limits.ts'
import type { PatternData, RuleData, RulesDocument } from './rules-document.ts'

type Words = NonNullable<RulesDocument['words']>

/** Builds the rules of a document. Throws an error for an expression that cannot be compiled. */
export function toRules({ words = {}, rules }: Pick<RulesDocument, 'words' | 'rules'>): Rule[] {
  return rules.map((rule) => toRule(rule, words))
}

/** Builds one rule of a document; see {@link toRules}. */
export function toRule(
  { examples: _examples, references = [], roles, regardless, patterns, ...rule }: RuleData,
  words: Words,
): Rule {
  return {
    ...rule,
    references,
    ...(roles && { roles }),
    ...(regardless && { regardless }),
    patterns: patterns.map((pattern) => toPattern(pattern, words)),
  }
}

function toPattern(data: PatternData, words: Words): Pattern {
  const compile = (source: string) => compose(source, words, regex)
  if (typeof data === 'string') return compile(data)
  const { anchors } = data
  if ('match' in data) {
    const { view, flags } = data
    const match = compose(data.match, words, regexWith(flags ?? ''))
    // Without anchors in the data, they are derived from the expression.
    return anchors || view ? { anchors: anchors ?? [], match, ...(view && { view }) } : match
  }
  const match = 'all' in data ? toTogether(data, compile) : toFlow(data, compile)
  return anchors ? { anchors, match } : match
}

function toFlow(data: Extract<PatternData, { first: string }>, compile: (source: string) => RegExp) {
  const { first, last, stop, withinMax } = data
  return { first: compile(first), last: compile(last), stop: compile(stop), withinMax }
}

function toTogether(data: Extract<PatternData, { all: string[] }>, compile: (source: string) => RegExp) {
  const { all, stop, withinMax, unless } = data
  return { all: all.map(compile), stop: compile(stop), withinMax, unless: unless ? compile(unless) : /(?!)/ }
}

const namePattern = /\$\{(\w+)\}/

/** Inserts the lists of words that an expression names. */
function compose(source: string, words: Words, composer: typeof regex): RegExp {
  const parts = source.split(namePattern)
  const texts = parts.filter((_, index) => index % 2 === 0)
  const pieces = parts
    .filter((_, index) => index % 2 === 1)
    .map((name) => {
      if (!Object.hasOwn(words, name)) throw new TypeError(`There is no list of words '${name}'.`)
      return words[name]!
    })
  const characters = [...texts, ...pieces.flat()].reduce((sum, { length }) => sum + length, 0)
  if (characters > bundleLimits.expressionCharactersMax)
    throw new TypeError(`An expression with its words has over ${bundleLimits.expressionCharactersMax} characters.`)
  return composer(Object.assign(texts, { raw: texts }), ...pieces)
}
