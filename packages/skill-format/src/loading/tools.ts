import type { LoadedSkill } from '@skillstead/protocol'
import { cutAtWord } from '../skill-md/text.ts'
import { toParameters, type ToolParameters } from './tools-parameters.ts'

/** A framework-neutral tool: the type of a loaded skill's `toolDefinition`. */
export interface GenericTool {
  name: string
  description: string
  parameters: ToolParameters
}

/** Arguments of LangChain's `DynamicStructuredTool`, also accepted by `bindTools`. */
export interface LangChainTool {
  name: string
  description: string
  schema: ToolParameters
  func: () => Promise<string>
}

/** A tool of OpenAI's chat completions (`ChatCompletionFunctionTool`). */
export interface OpenAITool {
  type: 'function'
  function: GenericTool
}

/** A tool of OpenAI's responses (`FunctionTool`). */
export interface OpenAIResponsesTool extends GenericTool {
  type: 'function'
  /** Whether the model must keep to the schema; OpenAI then accepts only some schemas. */
  strict: false
}

/**
 * A tool of the AI SDK (`Tool`), of its version 6 or later. The key under which a tool is passed is its name. The
 * schema is a Standard JSON Schema (standardschema.dev, version 1); calls are not validated.
 */
export interface AiTool {
  description: string
  inputSchema: {
    readonly '~standard': {
      readonly version: 1
      readonly vendor: 'skillstead'
      readonly validate: (value: unknown) => { readonly value: unknown }
      readonly jsonSchema: { readonly input: () => ToolParameters; readonly output: () => ToolParameters }
    }
  }
  execute: () => Promise<string>
}

/** A tool of Anthropic's messages (`Tool`). */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ToolParameters
}

/** The tool type of each framework. */
export interface ToolForms {
  langchain: LangChainTool
  openai: OpenAITool
  'openai-responses': OpenAIResponsesTool
  ai: AiTool
  anthropic: AnthropicTool
  generic: GenericTool
}
/** A framework that {@link toTool} supports. */
export type ToolFramework = keyof ToolForms

/** The source of a tool: a loaded skill at any level. */
export type ToolSource = Pick<LoadedSkill, 'metadata'> &
  Partial<Pick<LoadedSkill, 'contract' | 'toolDefinition' | 'summary' | 'fullContent'>>

/**
 * Creates the definition of a tool by which a model requests a skill. For any contract, the name matches
 * `^[a-zA-Z0-9_-]{1,64}$`, the description has 1 to 1,024 characters, and the parameters are a valid JSON Schema of an
 * object.
 */
export function toToolDefinition(skill: {
  readonly name: string
  readonly fullName: string
  readonly description: string
  readonly contract: { readonly inputs: unknown } | null
}): GenericTool {
  return {
    name: toToolName(skill.name.replace(/^[a-z0-9-]+\//, '')),
    description: toToolDescription(skill.description) || toToolDescription(`The skill ${skill.fullName}.`),
    parameters: toParameters(skill.contract?.inputs),
  }
}

/**
 * Converts a loaded skill to a tool of a framework. `name` replaces the short name, for example if two skills share it
 * (see `toToolNames`). Throws a TypeError for a name that model APIs reject, and for an unknown framework. The
 * parameters come from `toolDefinition`, or else from the contract, and are validated again, because the skill may come
 * from any server.
 *
 * @example
 * new DynamicStructuredTool(toTool(await client.load('alice/pdf'), 'langchain'))
 */
export function toTool<Framework extends ToolFramework>(
  skill: ToolSource,
  framework: Framework,
  options: { readonly name?: string } = {},
): ToolForms[Framework] {
  if (!Object.hasOwn(forms, framework)) {
    throw new TypeError(`Unknown framework '${framework}'. Use one of ${Object.keys(forms).join(', ')}.`)
  }
  const { name, fullName, description } = { ...skill.metadata, ...skill.toolDefinition }
  const contract = skill.toolDefinition ? { inputs: skill.toolDefinition.parameters } : (skill.contract ?? null)
  const tool = toToolDefinition({ name: options.name ?? name, fullName, description, contract })
  if (options.name !== undefined && tool.name !== options.name) {
    throw new TypeError(`Invalid tool name '${options.name}'. Use 1 to 64 letters, digits, '_' and '-'.`)
  }
  return forms[framework](tool, skill)
}

/** Maximum length of a function's description in model APIs; OpenAI's API rejects longer descriptions. */
const descriptionCharactersMax = 1024

const forms: { [Framework in ToolFramework]: (tool: GenericTool, skill: ToolSource) => ToolForms[Framework] } = {
  langchain: ({ name, description, parameters }, skill) => {
    return { name, description, schema: parameters, func: () => Promise.resolve(toToolResult(skill)) }
  },
  openai: (tool) => ({ type: 'function', function: tool }),
  'openai-responses': (tool) => ({ type: 'function', ...tool, strict: false }),
  ai({ description, parameters }, skill) {
    const read = () => structuredClone(parameters)
    const jsonSchema = { input: read, output: read }
    const standard = {
      version: 1,
      vendor: 'skillstead',
      validate: (value: unknown) => ({ value }),
      jsonSchema,
    } as const
    return { description, inputSchema: { '~standard': standard }, execute: () => Promise.resolve(toToolResult(skill)) }
  },
  anthropic: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  generic: (tool) => tool,
}

/** The tool makes no request when it is called: it returns the content that was loaded. */
function toToolResult({ fullContent, summary, metadata }: ToolSource): string {
  return fullContent ?? summary ?? metadata.description
}

function toToolDescription(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return cutAtWord(line.toWellFormed(), descriptionCharactersMax)
}

/**
 * Assigns a unique tool name to each skill: the short name, or `<owner>-<name>` if several skills have that name.
 * Model APIs reject a request with two tools of the same name.
 *
 * @example
 * toToolNames([{ fullName: 'alice/pdf' }, { fullName: 'bob/pdf' }]) // ['alice-pdf', 'bob-pdf']
 */
export function toToolNames(skills: readonly { readonly fullName: string }[]): string[] {
  const shortNames = skills.map(({ fullName }) => toToolName(fullName.slice(fullName.lastIndexOf('/') + 1)))
  const taken = new Set<string>()
  return skills.map(({ fullName }, i) => {
    const isShared = shortNames.indexOf(shortNames[i]!) !== shortNames.lastIndexOf(shortNames[i]!)
    const wanted = isShared ? toToolName(fullName.replace('/', '-')) : shortNames[i]!
    let name = wanted
    for (let n = 2; taken.has(name); n++) name = toToolName(`${wanted.slice(0, nameCharactersMax - 5)}-${n}`)
    taken.add(name)
    return name
  })
}

/**
 * Converts a name to one that every model API accepts (`^[a-zA-Z0-9_-]{1,64}$`); a long name is truncated and ends in a
 * hash of the whole name.
 */
function toToolName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name
  const slug = (name.match(/[a-zA-Z0-9_]+/g) ?? ['skill', toShortHash(name)]).join('-')
  if (slug.length <= nameCharactersMax) return slug
  return `${slug.slice(0, nameCharactersMax - hashCharacters - 1)}-${toShortHash(name)}`
}

const nameCharactersMax = 64
const hashCharacters = 7

/** FNV-1a in 32 bits: distinguishes long names; not cryptographic. */
function toShortHash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(36).padStart(hashCharacters, '0')
}
