import type { LoadedSkill } from '@skillstead/protocol'
import { cutAtWord } from '../skill-md/text.ts'
import { toParameters, type ToolParameters } from './tools-parameters.ts'
import { toToolName } from './tools-names.ts'

/** The form of a tool that holds for no framework in particular: what `toolDefinition` of a loaded skill is. */
export interface GenericTool {
  name: string
  description: string
  parameters: ToolParameters
}

/** What `DynamicStructuredTool` of LangChain is made from, and what `bindTools` takes as it is. */
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

/** A tool of Anthropic's messages (`Tool`). */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ToolParameters
}

/** The form that each framework takes. */
export interface ToolForms {
  langchain: LangChainTool
  openai: OpenAITool
  anthropic: AnthropicTool
  generic: GenericTool
}
/** A framework that {@link toTool} knows: `langchain`, `openai`, `anthropic` or `generic`. */
export type ToolFramework = keyof ToolForms

/** What a tool is made from: a loaded skill at any level. */
export type ToolSource = Pick<LoadedSkill, 'metadata'> &
  Partial<Pick<LoadedSkill, 'contract' | 'toolDefinition' | 'summary' | 'fullContent'>>

/**
 * The definition of a tool by which a model asks for a skill. Whatever the contract holds, the name matches
 * `^[a-zA-Z0-9_-]{1,64}$`, the description has 1 to 1,024 characters, and the parameters are a valid JSON Schema of an object.
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
 * A loaded skill as a tool of a framework. `name` takes the place of the short name, where two skills have the same one
 * (see `toToolNames`); throws a TypeError for one that models' hosts refuse, and for an unknown framework.
 * The parameters come from `toolDefinition`, or else from the contract, and are checked again, wherever the skill was loaded.
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
    throw new TypeError(`There is no form for '${framework}'; give one of ${Object.keys(forms).join(', ')}.`)
  }
  const { name, fullName, description } = { ...skill.metadata, ...skill.toolDefinition }
  const contract = skill.toolDefinition ? { inputs: skill.toolDefinition.parameters } : (skill.contract ?? null)
  const tool = toToolDefinition({ name: options.name ?? name, fullName, description, contract })
  if (options.name !== undefined && tool.name !== options.name) {
    throw new TypeError(`A tool cannot be called '${options.name}': 1 to 64 of letters, digits, '_' and '-' are taken.`)
  }
  return forms[framework](tool, skill)
}

/** What hosted models take for the description of a function; OpenAI's refuses longer ones. */
const descriptionCharactersMax = 1024

const forms: { [Framework in ToolFramework]: (tool: GenericTool, skill: ToolSource) => ToolForms[Framework] } = {
  langchain: ({ name, description, parameters }, skill) => {
    // Nothing is fetched when the tool is called: what was loaded is what the model reads.
    const answer = skill.fullContent ?? skill.summary ?? skill.metadata.description
    return { name, description, schema: parameters, func: () => Promise.resolve(answer) }
  },
  openai: (tool) => ({ type: 'function', function: tool }),
  anthropic: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  generic: (tool) => tool,
}

function toToolDescription(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return cutAtWord(line.toWellFormed(), descriptionCharactersMax)
}
