import { fileRoles, severities, signals } from '@skillstead/protocol'
import * as v from 'valibot'
import { categories } from '../match/rule.ts'
import { bundleLimits } from './bundle-limits.ts'

const expressionCharacters = v.pipe(v.string(), v.minLength(1), v.maxLength(bundleLimits.expressionCharactersMax))
const line = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.regex(/^[^\p{C}]+$/u))
const listOf = <Item extends v.GenericSchema>(item: Item, most: number) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(most))
const Anchors = listOf(v.pipe(v.string(), v.maxLength(64)), 50)
const Distance = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(400))

/**
 * A pattern as data: an expression, an expression with anchors, a beginning and an end near each other, or expressions
 * that all match in one sentence. Expressions have the notation of `regex`, and `${name}` for a list of words.
 */
const PatternData = v.union([
  expressionCharacters,
  v.strictObject({
    match: expressionCharacters,
    flags: v.optional(v.picklist(['m', 's', 'ms'])),
    view: v.optional(v.literal('raw')),
    anchors: v.optional(Anchors),
  }),
  v.strictObject({
    first: expressionCharacters,
    last: expressionCharacters,
    stop: expressionCharacters,
    withinMax: Distance,
    anchors: v.optional(Anchors),
  }),
  v.strictObject({
    all: v.pipe(v.array(expressionCharacters), v.minLength(2), v.maxLength(8)),
    stop: expressionCharacters,
    withinMax: Distance,
    unless: v.optional(expressionCharacters),
    anchors: v.optional(Anchors),
  }),
])
export type PatternData = v.InferOutput<typeof PatternData>

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(bundleLimits.exampleCharactersMax))
/** A text of SKILL.md, or of another file. */
const Example = v.union([Text, v.strictObject({ path: line(200), text: Text })])
export type Example = v.InferOutput<typeof Example>

const RuleData = v.strictObject({
  id: v.pipe(v.string(), v.maxLength(60), v.regex(/^[a-z]+(?:-[a-z0-9]+)*$/)),
  category: v.picklist(categories),
  severity: v.picklist(severities),
  signal: v.picklist(signals.filter((signal) => signal !== 'none')),
  title: line(200),
  why: line(500),
  remediation: line(500),
  references: v.optional(v.pipe(v.array(v.pipe(line(300), v.regex(/^https:\/\//))), v.maxLength(10))),
  roles: v.optional(listOf(v.picklist(fileRoles), fileRoles.length)),
  regardless: v.optional(v.literal(true)),
  patterns: listOf(PatternData, bundleLimits.patternsMax),
  examples: v.strictObject({
    hit: listOf(Example, bundleLimits.examplesMax),
    miss: listOf(Example, bundleLimits.examplesMax),
  }),
})
export type RuleData = v.InferOutput<typeof RuleData>

/** Words of which any one matches, as expressions. */
const Words = listOf(line(200), 300)

/** The rules of a bundle, before they are signed. */
export const RulesDocument = v.strictObject({
  format: v.literal('skillstead-rules/v1'),
  /** Increases with each release; a node never installs a lower one. */
  release: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER)),
  date: v.pipe(v.string(), v.isoDate()),
  words: v.optional(v.record(v.pipe(v.string(), v.regex(/^[a-z][A-Za-z0-9]{0,40}$/)), Words)),
  rules: listOf(RuleData, bundleLimits.rulesMax),
})
export type RulesDocument = v.InferOutput<typeof RulesDocument>
