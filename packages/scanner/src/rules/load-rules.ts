import { regexWith } from '../text/regex.ts'
import type { CodeFactKind } from '../code/reading.ts'
import type { Pattern } from '../match/rule.ts'
import { bundleLimits } from './bundle-limits.ts'
import { namesKeyForStranger } from './issuers.ts'
import { imageLooksAlike, namesLookAlike } from './look-alike-names.ts'
import type { BuiltInDocument, CodeData, CodeFactsData, CombinationData, FactData } from './rule-document.ts'
import type { checkNames, HeadData, Part, PatternData, Parts } from './rule-document.ts'

/** What a rule reports: its fields without those that define what it matches. */
export type RuleHead = HeadData & { readonly references: readonly string[] }

interface WithPatterns {
  readonly patterns: readonly Pattern[]
}
export type Rule = RuleHead & WithPatterns
/** A fact is part of a combination but no finding by itself: reading keys, sending, decoding. */
export type Fact = Omit<FactData, 'patterns'> & WithPatterns
export type Combination = RuleHead & CombinationData

/** Facts about code: the code must have one of them. */
export interface FactsOf {
  readonly kinds: readonly CodeFactKind[]
  /** What the value of the fact must match; an unknown value is the empty text. */
  readonly value?: RegExp
  /** What the value must not match. */
  readonly except?: RegExp
}

/** A finding about what code does. */
export type CodeRule = RuleHead & Omit<CodeData, 'from' | 'to'> & { readonly from?: FactsOf; readonly to: FactsOf }

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
 * cannot be compiled; for an expression of a pattern, only when the pattern is first read.
 */
export function loadRules(documents: readonly BuiltInDocument[], otherParts: Parts = {}): LoadedRules {
  const parts: Parts = Object.assign({}, otherParts, ...documents.map((document) => document.parts))
  const compile: Compile = (source, flags = '') => {
    const text = insertParts(source, parts, [])
    return regexWith(flags)(Object.assign([text], { raw: [text] }))
  }
  const data = documents.flatMap(({ rules = [] }) => rules.map((rule) => ({ references: [], ...rule })))
  return {
    heads: data,
    rules: data.flatMap((rule) => ('patterns' in rule ? [withPatterns(rule, compile)] : [])),
    facts: documents.flatMap(({ facts = [] }) => facts.map((fact) => withPatterns(fact, compile))),
    combinations: data.flatMap((rule) => ('combination' in rule ? [{ ...rule, ...rule.combination }] : [])),
    codeRules: data.flatMap((rule) => {
      if (!('code' in rule) || !rule.code) return []
      const { from, to, ...others } = rule.code
      return { ...rule, ...others, ...(from && { from: toFactsOf(from, compile) }), to: toFactsOf(to, compile) }
    }),
  }
}

type Compile = (source: Part, flags?: string) => RegExp

/** Compiles patterns on first use: a scan needs few. */
function withPatterns<T extends { patterns: PatternData[] }>(probe: T, compile: Compile) {
  const { patterns, ...others } = probe
  let compiled: readonly Pattern[] | undefined
  return Object.defineProperty(others, 'patterns', {
    enumerable: true,
    get: () => (compiled ??= patterns.map((each) => toPattern(each, compile))),
  }) as Omit<T, 'patterns'> & WithPatterns
}

function toFactsOf({ kinds, value, except }: CodeFactsData, compile: Compile): FactsOf {
  return {
    kinds,
    ...(value !== undefined && { value: compile(value, 'i') }),
    ...(except !== undefined && { except: compile(except, 'i') }),
  }
}

/** The checks of a matched text that no expression can make, by the names that rules use for them. */
const checks: Readonly<Record<(typeof checkNames)[number], (text: string) => boolean>> = {
  'package-looks-alike': namesLookAlike,
  'image-looks-alike': imageLooksAlike,
  'key-for-stranger': namesKeyForStranger,
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
  const { first, last, stop = lineStop, withinMax = defaultWithinMax } = data
  const match = { first: compile(first), last: compile(last), stop: compile(stop), withinMax }
  return anchors ? { anchors, match } : match
}

const lineStop = String.raw`\n|\uE000`
const defaultWithinMax = 200

/** A gap after a space, which YAML inserts where it joins lines. */
const spaceBeforeGap = / (?=\{\d+-\d+ in (?:line|sentence)\})/g
/** An escape, a class or a named part, also in the older notation `${name}`. */
const tokenPattern = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\$?\{(?!word\})([a-z][A-Za-z0-9-]*)\}/g

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
