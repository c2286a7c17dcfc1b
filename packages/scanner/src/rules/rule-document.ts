import { fileRoles, severities, signals } from '@skillstead/protocol'
import * as v from 'valibot'
import { codeFactKinds } from '../code/reading.ts'
import { categories } from '../match/rule.ts'
import { bundleLimits } from './bundle-limits.ts'

/** Names of the checks of a matched text that no expression can make; see `checks`. */
export const checkNames = ['package-looks-alike', 'image-looks-alike', 'key-for-stranger'] as const

const Expression = v.pipe(v.string(), v.minLength(1), v.maxLength(bundleLimits.expressionCharactersMax))
const line = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.regex(/^[^\p{C}]+$/u))
const listOf = <Item extends v.GenericSchema>(item: Item, most: number) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(most))
const Anchors = listOf(v.pipe(v.string(), v.maxLength(64)), 50)
const Distance = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(600))
/** An expression, or expressions of which any one matches. */
const Part = v.union([Expression, listOf(v.pipe(Expression, v.regex(/^[^\p{C}]+$/u)), 300)])
export type Part = v.InferOutput<typeof Part>
const Id = v.pipe(v.string(), v.maxLength(60), v.regex(/^[a-z]+(?:-[a-z0-9]+)*$/))
const Ids = listOf(Id, 20)

/**
 * What is found in texts: an expression, an expression with anchors, or a beginning and an end near each other. `{name}`
 * in an expression stands for a named part.
 */
const Pattern = v.union([
  Expression,
  v.strictObject({
    match: Part,
    flags: v.optional(v.picklist(['m', 's', 'ms'])),
    view: v.optional(v.literal('raw')),
    anchors: v.optional(Anchors),
    check: v.optional(v.picklist(checkNames)),
  }),
  v.strictObject({
    first: Part,
    last: Part,
    stop: v.optional(Expression),
    withinMax: v.optional(Distance),
    anchors: v.optional(Anchors),
  }),
])
export type PatternData = v.InferOutput<typeof Pattern>

/** Facts about code of which one must be there, and what their value must and must not match, ignoring case. */
const CodeFacts = v.strictObject({
  kinds: listOf(v.picklist(codeFactKinds), codeFactKinds.length),
  value: v.optional(Part),
  except: v.optional(Part),
})
export type CodeFactsData = v.InferOutput<typeof CodeFacts>

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(bundleLimits.exampleCharactersMax))
/** An example for a rule: a text of SKILL.md, or of another file. */
const Example = v.union([Text, v.strictObject({ path: line(200), text: Text })])
export type Example = v.InferOutput<typeof Example>

/** The fields of each rule that do not say what it matches. */
const head = {
  /** Stable; used in suppressions and reports. */
  id: Id,
  category: v.picklist(categories),
  severity: v.picklist(severities),
  signal: v.picklist(signals.filter((signal) => signal !== 'none')),
  /** The finding, as a sentence without its full stop. */
  title: line(200),
  /** The risk for a user who installs the skill. */
  why: line(500),
  remediation: line(500),
  /** URLs of related weaknesses (CWE), techniques (MITRE ATT&CK, ATLAS) or lists (OWASP). */
  references: v.optional(v.pipe(v.array(v.pipe(line(300), v.regex(/^https:\/\//))), v.maxLength(10))),
  /** The roles of files to which the rule applies. Default: all except data. */
  roles: v.optional(listOf(v.picklist(fileRoles), fileRoles.length)),
  /** Whether a match counts even if it is quoted or prohibited, such as hidden text or a secret. */
  regardless: v.optional(v.literal(true)),
  /** Whether the rule judges the meaning of sentences. A test requires true findings of it in two sources of skills. */
  prose: v.optional(v.literal(true)),
  /**
   * Whether the rule is about addresses of other owners. A match with addresses of the skill's own product then has the
   * signal `power`, and is no part of combinations about addresses of other owners.
   */
  foreign: v.optional(v.literal(true)),
}
const examples = v.strictObject({
  hit: listOf(Example, bundleLimits.examplesMax),
  miss: listOf(Example, bundleLimits.examplesMax),
})

/** What code does: a fact, or a value that comes from one fact and reaches another. */
const code = v.strictObject({
  from: v.optional(CodeFacts),
  to: CodeFacts,
  /** Ids of rules that report the same: on a line with a finding of one of them, this rule adds none. */
  unlessReported: v.optional(Ids),
  /** Whether the rule applies only if a secret of one service is sent to the address of another. */
  toStranger: v.optional(v.literal(true)),
})
export type CodeData = v.InferOutput<typeof code>
/** Facts and findings near each other, for example reading a secret and sending it. */
const combination = v.strictObject({
  /** Groups of ids; one of each group must occur, in any order. */
  all: v.pipe(v.array(Ids), v.minLength(2), v.maxLength(8)),
  /** Maximum distance: a number of lines in one file, the same file, or anywhere in the skill. */
  within: v.union([Distance, v.picklist(['file', 'skill'])]),
})
export type CombinationData = v.InferOutput<typeof combination>

const patterns = listOf(Pattern, bundleLimits.patternsMax)
const OfPatterns = v.strictObject({ ...head, patterns, code: v.optional(code), examples })
const OfCombination = v.strictObject({ ...head, combination, examples })
const OfCode = v.strictObject({ ...head, code, examples })
const OfEngine = v.strictObject({ ...head, engine: v.literal(true) })
export type HeadData = Omit<v.InferOutput<typeof OfEngine>, 'engine'>

/** A rule: what it reports, and what it matches: patterns, facts about code or both, or a combination of findings. */
export type RuleData = v.InferOutput<typeof OfPatterns | typeof OfCombination | typeof OfCode>
// The schema depends on the fields, because the error of a union would not name the wrong field.
const Rule = v.lazy((data): v.GenericSchema<RuleData> => {
  const has = (field: string) => typeof data === 'object' && data !== null && Object.hasOwn(data, field)
  return has('combination') ? OfCombination : has('code') && !has('patterns') ? OfCode : OfPatterns
})

/** A fact is part of combinations and no finding by itself. */
const FactData = v.strictObject({ id: Id, foreign: v.optional(v.literal(true)), patterns })
export type FactData = v.InferOutput<typeof FactData>

const Parts = v.record(v.pipe(v.string(), v.regex(/^[a-z][A-Za-z0-9-]{0,40}$/)), Part)
export type Parts = v.InferOutput<typeof Parts>

const content = {
  /** Named parts of expressions. */
  parts: v.optional(Parts),
  facts: v.optional(listOf(FactData, bundleLimits.rulesMax)),
  rules: listOf(Rule, bundleLimits.rulesMax),
}

/** A file of built-in rules. Rules without patterns are those that the engine checks by the form of texts and bytes. */
export const BuiltInDocument = v.strictObject({
  ...content,
  /** Lists of names, with spaces between them, that checks use. */
  names: v.optional(v.record(v.string(), v.string())),
  rules: v.optional(v.array(v.union([OfEngine, Rule]))),
})
export type BuiltInDocument = v.InferOutput<typeof BuiltInDocument>

/** The rules of a bundle, before they are signed. */
export const RulesDocument = v.strictObject({
  format: v.literal('skillstead-rules/v1'),
  /** Increases with each release; a node never installs a lower one. */
  release: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER)),
  date: v.pipe(v.string(), v.isoDate()),
  /** The older name of {@link content.parts}. */
  words: v.optional(Parts),
  ...content,
})
export type RulesDocument = v.InferOutput<typeof RulesDocument>
