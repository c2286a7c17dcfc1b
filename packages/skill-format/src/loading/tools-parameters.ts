import { isRecord } from '@skillstead/protocol'
import { readOwnProperty } from '../skill-md/key-value.ts'
import { toGivenInput, parseInputItem, type GivenInput } from './tools-items.ts'
import {
  createSchemaState,
  resolveReference,
  isKeyword,
  isSchemaType,
  toValidSchema,
  type JsonSchema,
} from './tools-schema.ts'

/**
 * JSON Schema of a tool's parameters in the form that all frameworks accept: an object without alternatives at the top
 * level.
 */
export interface ToolParameters {
  type: 'object'
  properties: Record<string, JsonSchema>
  required?: string[]
  description?: string
  additionalProperties?: boolean | JsonSchema
  // Anthropic's own type allows any keyword.
  [keyword: string]: unknown
}

/**
 * Converts the inputs of a contract to the parameters of a tool. Inputs may be a JSON Schema, a mapping of names, or a
 * list; without inputs the tool has one optional string `input`. The result is always a valid schema, and converting it
 * again does not change it.
 */
export function toParameters(inputs: unknown): ToolParameters {
  if (!isRecord(inputs)) return fromItems(Array.isArray(inputs) ? inputs : [inputs])
  if (isObjectSchema(inputs)) return fromSchema(inputs)
  if (isValueSchema(inputs)) return fromInputs([toGivenInput('input', inputs)], { root: inputs })
  const entries = Object.entries(inputs).map(([name, value]) => toGivenInput(name, value))
  return fromInputs(entries, { root: inputs })
}

const propertiesMax = 100
const nameCharactersMax = 64

function isObjectSchema(inputs: Record<string, unknown>): boolean {
  const isNamed = [readOwnProperty(inputs, 'type')].flat().includes('object')
  if (isRecord(readOwnProperty(inputs, 'properties')) && isNamed) return true
  const isReference = typeof readOwnProperty(inputs, '$ref') === 'string'
  return (
    (isNamed || isReference || isRecord(readOwnProperty(inputs, 'properties'))) && Object.keys(inputs).every(isKeyword)
  )
}

/**
 * Whether inputs are a schema of another type than object. Model APIs require an object at the top level, so that such
 * a schema becomes a property.
 */
function isValueSchema(inputs: Record<string, unknown>): boolean {
  const types = [readOwnProperty(inputs, 'type')].flat()
  return types.every(isSchemaType) && Object.keys(inputs).every(isKeyword)
}

function fromSchema(schema: Record<string, unknown>): ToolParameters {
  const target = resolveReference(schema, readOwnProperty(schema, '$ref'))
  const root = isRecord(target) ? target : schema
  const listed = readOwnProperty(root, 'required')
  const required = new Set<unknown>(Array.isArray(listed) ? listed : [])
  const properties = readOwnProperty(root, 'properties')
  const inputs = Object.entries(isRecord(properties) ? properties : {}).map(([name, value]) => {
    const isRequired = required.has(name) || (isRecord(value) && readOwnProperty(value, 'required') === true)
    // Authors who write YAML by hand often use the name of a type in place of a schema.
    return typeof value === 'string'
      ? { ...toGivenInput(name, value), isRequired }
      : { name, schema: value, isRequired }
  })
  const { description, additionalProperties } = root
  return fromInputs(inputs, { root: schema, siblings: { description, additionalProperties } })
}

function fromItems(items: readonly unknown[]): ToolParameters {
  const read = items.slice(0, propertiesMax).map((item) => parseInputItem(item) ?? item)
  const named = read.filter(isInput)
  const texts = read.filter((item) => typeof item === 'string' && item.trim() !== '')
  if (named.length > 0 && texts.length === 0) return fromInputs(named)
  const description = texts.length > 0 ? texts.join('; ') : 'Description of the task.'
  return fromInputs([...named, { name: 'input', schema: { type: 'string', description }, isRequired: false }])
}

function isInput(item: unknown): item is GivenInput {
  return isRecord(item) && Object.hasOwn(item, 'isRequired')
}

/** Builds the object schema of all inputs. References resolve in `root`. */
function fromInputs(
  given: readonly GivenInput[],
  { root, siblings }: { root?: unknown; siblings?: JsonSchema } = {},
): ToolParameters {
  const inputs = withValidNames(given.slice(0, propertiesMax))
  const required = inputs.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  const properties = Object.fromEntries(inputs.map(({ name, schema }) => [name, schema]))
  const schema = toValidSchema({ ...siblings, type: 'object', properties, required }, createSchemaState(root))
  return { properties: {}, ...schema, type: 'object' }
}

/**
 * Gives each input a unique name that Anthropic's API accepts (`^[a-zA-Z0-9_.-]{1,64}$`); its original name becomes the
 * title. Names that every object inherits (`constructor`) are replaced: a look-up would find such a name in any
 * arguments.
 */
function withValidNames(inputs: readonly GivenInput[]): GivenInput[] {
  const taken = new Set<string>()
  return inputs.map((input) => {
    const short = toPropertyName(input.name)
    let name = short
    for (let i = 2; taken.has(name) || name in {}; i++) name = `${short.slice(0, nameCharactersMax - 4)}_${i}`
    taken.add(name)
    return name === input.name ? input : { ...input, name, schema: withTitle(input.schema, input.name) }
  })
}

function toPropertyName(name: string): string {
  if (/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) return name
  const words = name.match(/[a-zA-Z0-9.-]+/g) ?? ['input']
  return words.join('_').slice(0, nameCharactersMax)
}

function withTitle(schema: unknown, title: string): unknown {
  return isRecord(schema) && !Object.hasOwn(schema, 'title') ? { title, ...schema } : schema
}
