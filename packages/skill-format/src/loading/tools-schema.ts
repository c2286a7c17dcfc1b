import { isRecord } from '@skillstead/protocol'
import { readOwnProperty } from '../skill-md/key-value.ts'
import { cutAtWord } from '../skill-md/text.ts'

/** A JSON Schema (2020-12) as plain JSON. */
export type JsonSchema = Record<string, unknown>

/** The remaining size limits of one tool's schema, and the document in which its references resolve. */
export interface SchemaState {
  readonly root: unknown
  valuesLeft: number
  charactersLeft: number
}

/**
 * Starts a schema with limited size, because every call of a model pays for the tokens of a tool's schema. What exceeds
 * the limits is left out.
 */
export function createSchemaState(root: unknown): SchemaState {
  return { root, valuesLeft: valuesMax, charactersLeft: charactersMax }
}

/**
 * Converts an author's input to a valid JSON Schema: keeps keywords whose values have the right form, and drops all
 * others. Inlines references within the document, because frameworks differ in whether they follow them. Moves patterns
 * to the description: a program that validates arguments would otherwise run a regular expression of an untrusted
 * author.
 */
export function toValidSchema(value: unknown, state: SchemaState, depth = 0, refs: readonly string[] = []): JsonSchema {
  state.valuesLeft -= 1
  if (value === false) return { not: {} }
  if (!isRecord(value) || depth > depthMax || state.valuesLeft < 0) return {}
  const ref = readOwnProperty(value, '$ref')
  if (typeof ref === 'string' && !refs.includes(ref)) {
    const target = resolveReference(state.root, ref)
    const { $ref: _, ...siblings } = value
    return toValidSchema({ ...(isRecord(target) ? target : {}), ...siblings }, state, depth + 1, [...refs, ref])
  }
  const place = { state, depth: depth + 1, refs }
  const given = withoutPattern(withItems(value))
  const valid: JsonSchema = {}
  for (const [keyword, read] of Object.entries(keywords)) {
    const written = readOwnProperty(given, keyword)
    const taken = written === undefined ? undefined : read(written, place)
    if (taken !== undefined) valid[keyword] = taken
  }
  return withKnownRequired(valid)
}

/** Resolves a reference within the document (`#/$defs/point`); undefined if it has no target. */
export function resolveReference(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  const steps = ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps.reduce<unknown>((at, step) => (isRecord(at) ? readOwnProperty(at, step) : undefined), root)
}

/**
 * Normalises a text for a model: one line, without control characters, truncated at a word; dropped once the schema's
 * limit is reached.
 */
function toSchemaText(value: unknown, state: SchemaState): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value.slice(0, textCharactersMax * 4).replace(/[\s\p{Cc}]+/gu, ' ')
  const text = cutAtWord(line.trim().toWellFormed(), textCharactersMax)
  if (text === '' || text.length > state.charactersLeft) return undefined
  state.charactersLeft -= text.length
  return text
}

/** Whether a key is a keyword of JSON Schema; distinguishes a schema from a mapping of parameters. */
export function isKeyword(key: string): boolean {
  return Object.hasOwn(keywords, key) || otherKeywords.has(key) || key.startsWith('x-')
}

/** Whether a value is one of the seven types of JSON Schema. */
export function isSchemaType(value: unknown): value is string {
  return typeof value === 'string' && types.has(value)
}

const valuesMax = 300
const charactersMax = 10_000
const depthMax = 10
const textCharactersMax = 500
const choicesMax = 100
const nameCharactersMax = 200

const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
/** Formats of the standard; frameworks reject other formats, or give them their own meaning. */
const formats = new Set(
  (
    'date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference ' +
    'uuid uri-template json-pointer relative-json-pointer regex'
  ).split(' '),
)
/** Known keywords that are dropped: they do not help a model, or frameworks interpret them differently. */
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
  type: toSchemaType,
  title: (value, { state }) => toSchemaText(value, state),
  description: (value, { state }) => toSchemaText(value, state),
  format: (value) => (typeof value === 'string' && formats.has(value) ? value : undefined),
  enum: toChoices,
  const: toSmallValue,
  default: toSmallValue,
  minimum: toFiniteNumber,
  maximum: toFiniteNumber,
  exclusiveMinimum: toFiniteNumber,
  exclusiveMaximum: toFiniteNumber,
  multipleOf: (value) => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined),
  minLength: toNonNegativeInteger,
  maxLength: toNonNegativeInteger,
  minItems: toNonNegativeInteger,
  maxItems: toNonNegativeInteger,
  minProperties: toNonNegativeInteger,
  maxProperties: toNonNegativeInteger,
  uniqueItems: (value) => (typeof value === 'boolean' ? value : undefined),
  properties: toProperties,
  required: toUniqueNames,
  additionalProperties: (value, place) => (typeof value === 'boolean' ? value : toSubschema(value, place)),
  items: (value, place) => (Array.isArray(value) ? toTupleItems(value, place) : toSubschema(value, place)),
  anyOf: toSchemas,
  oneOf: toSchemas,
  allOf: toSchemas,
  not: toSubschema,
}

function toSchemaType(value: unknown): string | string[] | undefined {
  if (!Array.isArray(value)) return isSchemaType(value) ? value : undefined
  const known = [...new Set(value.filter(isSchemaType))]
  return known.length > 1 ? known : known[0]
}

function toFiniteNumber(value: unknown): number | undefined {
  // Converts negative zero, which JSON does not have.
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : undefined
}

function toNonNegativeInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value + 0 : undefined
}

function toChoices(value: unknown, place: Place): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined
  const choices = new Map<string, unknown>()
  for (const item of value.slice(0, choicesMax)) {
    const choice = toSmallValue(item, place)
    if (choice !== undefined) choices.set(JSON.stringify(choice), choice)
  }
  return choices.size > 0 ? [...choices.values()] : undefined
}

/** Copies a small value unchanged. A truncated value would be a different value, so large values are dropped. */
function toSmallValue(value: unknown, { state }: Place): unknown {
  const isPlain = value === null || typeof value === 'boolean' || Number.isFinite(value)
  if (!isPlain && typeof value !== 'string' && !isSmallJson(value)) return undefined
  const text = JSON.stringify(value)
  if (text.length > nameCharactersMax || text.length > state.charactersLeft || !isSafeText(text)) return undefined
  state.charactersLeft -= text.length
  return JSON.parse(text)
}

/** Whether a value is short JSON. Called before the value is serialised, which takes long for a large value. */
function isSmallJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null)
    return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (depth > 3 || ('toJSON' in value && typeof value.toJSON === 'function')) return false
  const entries = Object.entries(value)
  return entries.length <= 20 && entries.every(([key, item]) => !(key in {}) && isSmallJson(item, depth + 1))
}

/** Whether a JSON text has no lone surrogates and control characters, which JSON escapes. */
function isSafeText(json: string): boolean {
  return !/\\u(?:d[89a-f]|00)/i.test(json)
}

function toProperties(value: unknown, place: Place): JsonSchema | undefined {
  if (!isRecord(value)) return undefined
  const valid: [string, JsonSchema][] = []
  for (const [name, schema] of Object.entries(value)) {
    if (name in {} || name.length > nameCharactersMax || !name.isWellFormed()) continue
    if (place.state.valuesLeft <= 0 || name.length > place.state.charactersLeft) break
    place.state.charactersLeft -= name.length
    valid.push([name, toValidSchema(schema, place.state, place.depth, place.refs)])
  }
  return Object.fromEntries(valid)
}

function toUniqueNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  return [...new Set(value.filter((name) => typeof name === 'string'))]
}

function toSubschema(value: unknown, place: Place): JsonSchema | undefined {
  if (value === true) return {}
  if (!isRecord(value) && value !== false) return undefined
  return toValidSchema(value, place.state, place.depth, place.refs)
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

/** Earlier drafts of JSON Schema wrote tuples as a list of schemas, one per position. */
function toTupleItems(value: unknown[], place: Place): JsonSchema {
  const anyOf = toSchemas(value, place)
  return anyOf ? { anyOf } : {}
}

/** Model APIs require `items` in an array's schema. */
function withItems(schema: JsonSchema): JsonSchema {
  const isList = [readOwnProperty(schema, 'type')].flat().includes('array')
  return isList && readOwnProperty(schema, 'items') === undefined ? { ...schema, items: {} } : schema
}

function withoutPattern(schema: JsonSchema): JsonSchema {
  const { pattern, description } = schema
  if (typeof pattern !== 'string') return schema
  return { ...schema, description: `${typeof description === 'string' ? description : ''} (pattern: ${pattern})` }
}

/** Model APIs reject names in `required` that are not properties. */
function withKnownRequired({ required, ...schema }: JsonSchema): JsonSchema {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const names = ((required ?? []) as string[]).filter((name) => Object.hasOwn(properties, name))
  return names.length > 0 ? { ...schema, required: names } : schema
}
