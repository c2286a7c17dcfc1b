import { regexWith } from '../text/regex.ts'
import type { Combination, Fact, Flow, Pattern, Rule, Together } from '../match/rule.ts'
import { checks } from './checks.ts'
import type { CodeRule, FactsOf } from './code-rule.ts'
import { bundleLimits } from './bundle-limits.ts'
import type { BuiltInDocument, CodeData, CodeFactsData, EngineRuleData } from './rule-document.ts'
import type { Part, PatternData, Parts, RuleData } from './rule-document.ts'

/** The report of a rule, which does not depend on its pattern. */
export type RuleHead = Omit<Rule, 'patterns'>

/** Rules by what they match. */
export interface LoadedRules {
  /** The reports of all rules, including those that the engine checks itself. */
  readonly heads: readonly RuleHead[]
  readonly rules: readonly Rule[]
  readonly facts: readonly Fact[]
  readonly combinations: readonly Combination[]
  readonly codeRules: readonly CodeRule[]
}

/**
 * Builds the rules of documents, which may use each other's named parts. Throws a `TypeError` for an expression that
 * cannot be compiled, that of a pattern when it is first read.
 */
export function loadRules(documents: readonly BuiltInDocument[], otherParts: Parts = {}): LoadedRules {
  const parts: Parts = Object.assign({}, otherParts, ...documents.map((document) => document.parts))
  const compile: Compile = (source, flags) => composePattern(source, parts, flags)
  const data = documents.flatMap(({ rules = [] }) => rules)
  return {
    heads: data.map(toHead),
    rules: data.flatMap((rule) => ('patterns' in rule ? [withPatterns(toHead(rule), rule.patterns, compile)] : [])),
    facts: documents.flatMap(({ facts = [] }) =>
      facts.map(({ patterns, ...fact }) => withPatterns(fact, patterns, compile)),
    ),
    combinations: data.flatMap((rule) => ('combination' in rule ? [{ ...toHead(rule), ...rule.combination }] : [])),
    codeRules: data.flatMap((rule) => ('code' in rule && rule.code ? [toCodeRule(rule, rule.code, compile)] : [])),
  }
}

type Compile = (source: Part, flags?: string) => RegExp

function toHead(rule: RuleData | EngineRuleData): RuleHead {
  const { id, category, severity, signal, title, why, remediation, references = [], ...others } = rule
  const { roles, regardless, prose, foreign } = others
  return {
    id,
    category,
    severity,
    signal,
    title,
    why,
    remediation,
    references,
    ...(roles && { roles }),
    ...(regardless && { regardless }),
    ...(prose && { prose }),
    ...(foreign && { foreign }),
  }
}

/** Adds patterns that are compiled on first use: a scan needs few. */
function withPatterns<T extends object>(probe: T, patterns: readonly PatternData[], compile: Compile) {
  let compiled: readonly Pattern[] | undefined
  return Object.defineProperty(probe, 'patterns', {
    enumerable: true,
    get: () => (compiled ??= patterns.map((each) => toPattern(each, compile))),
  }) as T & { readonly patterns: readonly Pattern[] }
}

function toCodeRule(rule: RuleData, { from, to, ...others }: CodeData, compile: Compile): CodeRule {
  return {
    ...toHead(rule),
    ...others,
    ...(from && { from: toFactsOf(from, compile) }),
    to: toFactsOf(to, compile),
  }
}

function toFactsOf({ kinds, value, except }: CodeFactsData, compile: Compile): FactsOf {
  return {
    kinds,
    ...(value !== undefined && { value: compile(value, 'i') }),
    ...(except !== undefined && { except: compile(except, 'i') }),
  }
}

function toPattern(data: PatternData, compile: Compile): Pattern {
  if (typeof data === 'string') return compile(data)
  const { anchors } = data
  if ('match' in data) {
    const { view, flags, check } = data
    const match = compile(data.match, flags)
    // Without anchors in the data, they are derived from the expression.
    if (!anchors && !view && !check) return match
    return { anchors: anchors ?? [], match, ...(view && { view }), ...(check && { isMeant: checks[check] }) }
  }
  const match = 'all' in data ? toTogether(data, compile) : toFlow(data, compile)
  return anchors ? { anchors, match } : match
}

const lineStop = String.raw`\n|\uE000`
const defaultWithinMax = 200

function toFlow(data: Extract<PatternData, { first: Part }>, compile: Compile): Flow {
  const { first, last, stop = lineStop, withinMax = defaultWithinMax } = data
  return { first: compile(first), last: compile(last), stop: compile(stop), withinMax }
}

function toTogether(data: Extract<PatternData, { all: Part[] }>, compile: Compile): Together {
  const { all, stop = lineStop, withinMax = defaultWithinMax, unless = '(?!)' } = data
  return { all: all.map((each) => compile(each)), stop: compile(stop), withinMax, unless: compile(unless) }
}

/** Where YAML joins lines. */
const spaceBeforeGap = / (?=\{\d+-\d+ in (?:line|sentence)\})/g
/** An escape, a class or a named part, also in the older notation `${name}`. */
const tokenPattern = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\$?\{(?!word\})([a-z][A-Za-z0-9-]*)\}/g

function composePattern(source: Part, parts: Parts, flags = ''): RegExp {
  const text = insertParts(source, parts, [])
  return regexWith(flags)(Object.assign([text], { raw: [text] }))
}

function insertParts(source: Part, parts: Parts, within: readonly string[]): string {
  const text = [source]
    .flat()
    .join('|')
    .replaceAll(spaceBeforeGap, '')
    .replace(tokenPattern, (found, name?: string) => {
      if (name === undefined) return found
      const part = Object.hasOwn(parts, name) ? parts[name]! : undefined
      if (part === undefined) throw new TypeError(`There is no named part '${name}'.`)
      if (within.includes(name)) throw new TypeError(`The named part '${name}' contains itself.`)
      return `(${insertParts(part, parts, [...within, name])})`
    })
  // Checked for each part: parts of parts of parts grow exponentially.
  if (text.length > bundleLimits.expressionCharactersMax)
    throw new TypeError(`An expression with its parts has over ${bundleLimits.expressionCharactersMax} characters.`)
  return text
}
