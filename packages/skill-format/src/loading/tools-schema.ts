import { cutAtWord } from '../skill-md/text.ts'

/** A JSON Schema (2020-12) as plain JSON. */
export type JsonSchema = Record<string, unknown>

/** What one tool's schema may still hold, and the document that its references point into. */
export interface SchemaState {
  readonly root: unknown
  valuesLeft: number
  charactersLeft: number
}

/** Begins a schema; what is beyond its bounds is left out of it, since every call of a model pays for a tool's schema. */
export function createSchemaState(root: unknown): SchemaState {
  return { root, valuesLeft: valuesMax, charactersLeft: charactersMax }
}

/**
 * A valid JSON Schema from whatever an author wrote: keywords with a value of the right form are kept, all others
 * dropped. References within the document are put in place, for frameworks differ in whether they follow them; patterns
 * become words of the description: a program that checks arguments would run an expression of a stranger.
 */
export function toSchema(value: unknown, state: SchemaState, depth = 0, refs: readonly string[] = []): JsonSchema {
  state.valuesLeft -= 1
  if (value === false) return { not: {} }
  if (!isMapping(value) || depth > depthMax || state.valuesLeft < 0) return {}
  const ref = readOwn(value, '$ref')
  if (typeof ref === 'string' && !refs.includes(ref)) {
    const target = findTarget(state.root, ref)
    const { $ref: _, ...beside } = value
    return toSchema({ ...(isMapping(target) ? target : {}), ...beside }, state, depth + 1, [...refs, ref])
  }
  const place = { state, depth: depth + 1, refs }
  const given = withoutPattern(withItems(value))
  const kept: JsonSchema = {}
  for (const [keyword, read] of Object.entries(keywords)) {
    const written = readOwn(given, keyword)
    const taken = written === undefined ? undefined : read(written, place)
    if (taken !== undefined) kept[keyword] = taken
  }
  return withKnownRequired(kept)
}

/** What a reference within the document (`#/$defs/point`) points at; undefined for none. */
export function findTarget(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  const steps = ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps.reduce<unknown>((at, step) => (isMapping(at) ? readOwn(at, step) : undefined), root)
}

/** Whether a value is a mapping whose keys can be looked at. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value that a mapping itself holds: never what it inherits, such as `constructor`. */
export function readOwn(mapping: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}

/** A text for a model: one line, without controls, cut at a word; what is beyond the schema's bound is dropped. */
function toText(value: unknown, state: SchemaState): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value.slice(0, textCharactersMax * 4).replace(/[\s\p{Cc}]+/gu, ' ')
  const text = cutAtWord(line.trim().toWellFormed(), textCharactersMax)
  if (text === '' || text.length > state.charactersLeft) return undefined
  state.charactersLeft -= text.length
  return text
}

/** The words that a schema may begin with, for telling a schema from a mapping of parameters. */
export function isKeyword(key: string): boolean {
  return Object.hasOwn(keywords, key) || otherKeywords.has(key) || key.startsWith('x-')
}

/** Whether a text is one of the seven types. */
export function isSchemaType(value: unknown): boolean {
  return typeof value === 'string' && types.has(value)
}

const valuesMax = 300
const charactersMax = 10_000
const depthMax = 10
const textCharactersMax = 500
const choicesMax = 100
const nameCharactersMax = 200

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
/** Those of the standard; frameworks refuse others, or look them up in their own tables. */
const formats = new Set(
  (
    'date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference ' +
    'uuid uri-template json-pointer relative-json-pointer regex'
  ).split(' '),
)
/** Known, and not kept: they are not for the model, or frameworks read them in different ways. */
const otherKeywords = new Set(
  (
    '$schema $id $ref $defs $comment $anchor definitions examples pattern patternProperties propertyNames if then else ' +
    'dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems contains minContains maxContains prefixItems ' +
    'nullable deprecated readOnly writeOnly'
  ).split(' '),
)

interface Place {
  readonly state: SchemaState
  readonly depth: number
  readonly refs: readonly string[]
}

const keywords: Record<string, (value: unknown, place: Place) => unknown> = {
  type: toType,
  title: (value, { state }) => toText(value, state),
  description: (value, { state }) => toText(value, state),
  format: (value) => (typeof value === 'string' && formats.has(value) ? value : undefined),
  enum: toChoices,
  const: toPlain,
  default: toPlain,
  minimum: toNumber,
  maximum: toNumber,
  exclusiveMinimum: toNumber,
  exclusiveMaximum: toNumber,
  multipleOf: (value) => (Number.isFinite(value) && (value as number) > 0 ? value : undefined),
  minLength: toCount,
  maxLength: toCount,
  minItems: toCount,
  maxItems: toCount,
  minProperties: toCount,
  maxProperties: toCount,
  uniqueItems: (value) => (typeof value === 'boolean' ? value : undefined),
  properties: toProperties,
  required: toNames,
  additionalProperties: (value, place) => (typeof value === 'boolean' ? value : toSubschema(value, place)),
  items: (value, place) => (Array.isArray(value) ? toItems(value, place) : toSubschema(value, place)),
  anyOf: toSchemas,
  oneOf: toSchemas,
  allOf: toSchemas,
  not: toSubschema,
}

function toType(value: unknown): string | string[] | undefined {
  if (!Array.isArray(value)) return isSchemaType(value) ? (value as string) : undefined
  const known = [...new Set(value.filter(isSchemaType))] as string[]
  return known.length > 1 ? known : known[0]
}

function toNumber(value: unknown): number | undefined {
  // JSON knows no negative zero.
  return Number.isFinite(value) ? (value as number) + 0 : undefined
}

function toCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) + 0 : undefined
}

function toChoices(value: unknown, place: Place): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined
  const choices = new Map<string, unknown>()
  for (const item of value.slice(0, choicesMax)) {
    const choice = toPlain(item, place)
    if (choice !== undefined) choices.set(JSON.stringify(choice), choice)
  }
  return choices.size > 0 ? [...choices.values()] : undefined
}

/** A small value as it is. What is cut would be another value, so a large one is dropped. */
function toPlain(value: unknown, { state }: Place): unknown {
  const isPlain = value === null || typeof value === 'boolean' || Number.isFinite(value)
  if (!isPlain && typeof value !== 'string' && !isSmallJson(value)) return undefined
  const text = JSON.stringify(value)
  if (text.length > nameCharactersMax || text.length > state.charactersLeft || !isSafeText(text)) return undefined
  state.charactersLeft -= text.length
  return JSON.parse(text)
}

/** Looked at before it is written as JSON: a large one, or one that never ends, is not. */
function isSmallJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null)
    return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (depth > 3 || typeof (value as { toJSON?: unknown }).toJSON === 'function') return false
  const entries = Object.entries(value)
  return entries.length <= 20 && entries.every(([key, item]) => !(key in {}) && isSmallJson(item, depth + 1))
}

/** JSON writes halves of surrogate pairs as escapes. */
function isSafeText(json: string): boolean {
  return !/\\u(?:d[89a-f]|00)/i.test(json)
}

function toProperties(value: unknown, place: Place): JsonSchema | undefined {
  if (!isMapping(value)) return undefined
  const kept: [string, JsonSchema][] = []
  for (const [name, schema] of Object.entries(value)) {
    if (name in {} || name.length > nameCharactersMax || !name.isWellFormed()) continue
    if (place.state.valuesLeft <= 0 || name.length > place.state.charactersLeft) break
    place.state.charactersLeft -= name.length
    kept.push([name, toSchema(schema, place.state, place.depth, place.refs)])
  }
  return Object.fromEntries(kept)
}

function toNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  return [...new Set(value.filter((name) => typeof name === 'string'))]
}

function toSubschema(value: unknown, place: Place): JsonSchema | undefined {
  if (value === true) return {}
  if (!isMapping(value) && value !== false) return undefined
  return toSchema(value, place.state, place.depth, place.refs)
}

function toSchemas(value: unknown, place: Place): JsonSchema[] | undefined {
  if (!Array.isArray(value)) return undefined
  const schemas: JsonSchema[] = []
  for (const item of value) {
    if (place.state.valuesLeft <= 0) break
    const schema = toSubschema(item, place)
    if (schema) schemas.push(schema)
  }
  return schemas.length > 0 ? schemas : undefined
}

/** A list of schemas, one a place, was how earlier drafts wrote tuples. */
function toItems(value: unknown[], place: Place): JsonSchema {
  const anyOf = toSchemas(value, place)
  return anyOf ? { anyOf } : {}
}

/** Hosts ask of a list that it says what it holds. */
function withItems(schema: JsonSchema): JsonSchema {
  const isList = [readOwn(schema, 'type')].flat().includes('array')
  return isList && readOwn(schema, 'items') === undefined ? { ...schema, items: {} } : schema
}

function withoutPattern(schema: JsonSchema): JsonSchema {
  const { pattern, description } = schema
  if (typeof pattern !== 'string') return schema
  return { ...schema, description: `${typeof description === 'string' ? description : ''} (pattern: ${pattern})` }
}

/** Hosts refuse names in `required` that are of no property. */
function withKnownRequired({ required, ...schema }: JsonSchema): JsonSchema {
  const properties = isMapping(schema.properties) ? schema.properties : {}
  const names = ((required ?? []) as string[]).filter((name) => Object.hasOwn(properties, name))
  return names.length > 0 ? { ...schema, required: names } : schema
}
