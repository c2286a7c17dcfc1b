import { isRecord } from '@skillstead/protocol'
import { readOwnProperty } from '../skill-md/key-value.ts'
import { isSchemaType, type JsonSchema } from './tools-schema.ts'

/** An input of a skill as its author described it, not validated yet. */
export interface GivenInput {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
}

/** Parses an item of a list of inputs: `path (string, required): The file`, or a mapping; undefined without a name. */
export function parseInputItem(item: unknown): GivenInput | undefined {
  if (typeof item === 'string') return parseInputLine(item)
  if (!isRecord(item)) return undefined
  const name = readOwnProperty(item, 'name')
  const { name: _, ...schema } = item
  if (typeof name === 'string') return toGivenInput(name, schema)
  const [only, ...others] = Object.entries(item)
  return only && others.length === 0 ? toGivenInput(...only) : undefined
}

/** Parses an input of a mapping: its value is a schema, a type, a list of choices, or a description. */
export function toGivenInput(name: string, value: unknown): GivenInput {
  if (isRecord(value)) {
    const schema = hasShape(value) ? value : { ...value, type: 'string' }
    return { name, schema: withKnownType(schema), isRequired: readOwnProperty(value, 'required') === true }
  }
  if (Array.isArray(value)) return { name, schema: { type: 'string', enum: value.filter(isString) }, isRequired: false }
  if (typeof value === 'number') return { name, schema: { type: 'number', default: value }, isRequired: false }
  return typeof value === 'string'
    ? parseTypeWords(name, value)
    : { name, schema: { type: 'string' }, isRequired: false }
}

/** Words that authors use for types in lists of inputs, with their JSON Schema. */
const typeWords = new Map<string, JsonSchema>(
  Object.entries({
    str: { type: 'string' },
    text: { type: 'string' },
    path: { type: 'string' },
    file: { type: 'string' },
    url: { type: 'string' },
    int: { type: 'integer' },
    float: { type: 'number' },
    bool: { type: 'boolean' },
    list: { type: 'array' },
    dict: { type: 'object' },
    map: { type: 'object' },
  }),
)

const lineCharactersMax = 600
/** `--name, -n (type, required): text`; the name may be several words if punctuation after it marks its end. */
const linePattern =
  /^-{0,2}([A-Za-z_][\w.-]{0,63}(?: [\w.-]{1,64}){0,3})(?:, ?-{1,2}[\w-]{1,64})? ?(?:[(（[]([^()（）[\]]{0,200})[)）\]])? ?(?:(:|：|—|–|- )(.*))?$/su

function parseInputLine(line: string): GivenInput | undefined {
  const [, name = '', marks, separator, text = ''] =
    linePattern.exec(line.slice(0, lineCharactersMax).replace(/[*`]/g, '').replace(/\s+/g, ' ').trim()) ?? []
  const words = toTypeWords(marks)
  const isName = separator !== undefined || !name.includes(' ') || words.some(isMark)
  if (name === '' || !isName) return undefined
  const description = [text.trim(), words.every(isMark) ? '' : `(${marks})`].filter(Boolean).join(' ')
  const schema = { ...toTypeOf(words), ...(description && { description }) }
  return { name, schema, isRequired: words.includes('required') || words.includes('必填') }
}

/** Parses `string`, `int?`, `string[]`, `string, required`, `string - the file`, or any description of an input. */
function parseTypeWords(name: string, value: string): GivenInput {
  const [, word = '', rest = ''] = /^([a-z]{1,10}(?:\[\])?)\??(?:$| ?[,:;(–—-](.*)$)/s.exec(value.trim()) ?? []
  if (!isTypeWord(word)) return { name, schema: { type: 'string', description: value }, isRequired: false }
  const words = toTypeWords(rest)
  const description = words.every(isMark) ? '' : rest.replace(/\)$/, '').trim()
  const schema = { ...toTypeOf([word]), ...(description && { description }) }
  return { name, schema, isRequired: words.includes('required') }
}

function toTypeWords(marks = ''): string[] {
  return marks
    .toLowerCase()
    .split(/[\s,;|()]+/)
    .filter(Boolean)
}

function isMark(word: string): boolean {
  return ['required', 'optional', '必填', '可选'].includes(word) || isTypeWord(word)
}

function isTypeWord(word: string): boolean {
  const type = word.replace(/\[\]$/, '')
  return isSchemaType(type) || typeWords.has(type)
}

/** The schema of the first word that is a type. Default: string. */
function toTypeOf(words: readonly string[]): JsonSchema {
  const word = words.find(isTypeWord) ?? 'string'
  const type = word.replace(/\[\]$/, '')
  const schema = typeWords.get(type) ?? { type }
  return word.endsWith('[]') ? { type: 'array', items: schema } : schema
}

/** Whether a mapping defines the type or values of the input. */
function hasShape(schema: Record<string, unknown>): boolean {
  return ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => Object.hasOwn(schema, key))
}

function withKnownType(schema: Record<string, unknown>): Record<string, unknown> {
  const { type } = schema
  return typeof type === 'string' && !isSchemaType(type) ? { ...schema, ...toTypeOf(toTypeWords(type)) } : schema
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
