import type { Tool as AnthropicSdkTool } from '@anthropic-ai/sdk/resources/messages'
import { isLangChainTool, convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { DynamicStructuredTool, type StructuredToolParams } from '@langchain/core/tools'
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Tool as AiSdkTool } from 'ai'
import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions'
import type { FunctionTool } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { toTool } from '@skillstead/skill-format/loading'
import { defineTool, loaded } from '../support/tool-acts.ts'

const toolDefinition = defineTool({
  file: { type: 'string', required: true, description: 'The form' },
  pages: 'integer[]',
  mode: ['fill', 'flatten'],
})
const skill = loaded({ level: 'full', toolDefinition, fullContent: '# PDF\n' })
const valid = { file: 'form.pdf', pages: [1, 2], mode: 'fill' }
const invalid = [{}, { file: 3 }, { file: 'form.pdf', pages: ['one'] }, { file: 'form.pdf', mode: 'burn' }]

describe('a tool for LangChain', () => {
  const tool = toTool(skill, 'langchain')

  it('has the type that LangChain publishes, and LangChain accepts the tool unchanged', () => {
    tool satisfies StructuredToolParams
    expect(isLangChainTool(tool)).toBe(true)
    expect(convertToOpenAITool(tool)).toEqual(toTool(skill, 'openai'))
  })

  it('runs in LangChain, which rejects arguments that violate the contract of the skill', async () => {
    const structured = new DynamicStructuredTool(tool)
    expect(await structured.invoke(valid)).toBe('# PDF\n')
    for (const wrong of invalid) await expect(structured.invoke(wrong)).rejects.toThrow(/did not match expected schema/)
  })

  it('runs in LangChain for skills without inputs, and for skills with hostile inputs', async () => {
    const traps = { 'a b': 'string', toString: 'string', at: { type: 'string', pattern: '(', format: 'constructor' } }
    for (const parameters of [
      null,
      [],
      traps,
      { type: 'object', properties: { a: { $ref: 'https://example.com' } } },
    ]) {
      const contract = { inputs: parameters, outputs: null }
      const structured = new DynamicStructuredTool(toTool(loaded({ contract, summary: 'Short' }), 'langchain'))
      expect(await structured.invoke({})).toBe('Short')
    }
  })
})

describe('a tool for OpenAI', () => {
  it('has the type that OpenAI publishes', () => {
    const tool = toTool(skill, 'openai') satisfies ChatCompletionFunctionTool
    expect(tool).toEqual({ type: 'function', function: toolDefinition })
    expect(Object.keys(tool.function)).not.toContain('strict')
  })
})

describe('a tool for the responses of OpenAI', () => {
  it('has the type that OpenAI publishes', () => {
    const tool = toTool(skill, 'openai-responses') satisfies FunctionTool
    expect(tool).toEqual({ type: 'function', ...toolDefinition, strict: false })
  })
})

describe('a tool for the AI SDK', () => {
  const tool = toTool(skill, 'ai')

  it('has the type that the AI SDK publishes, with a Standard JSON Schema', async () => {
    const { inputSchema } = tool satisfies AiSdkTool
    const { version, validate, jsonSchema } = inputSchema['~standard']
    expect(version).toBe(1)
    expect(jsonSchema.input()).toEqual(toolDefinition.parameters)
    expect(validate(valid)).toEqual({ value: valid })
  })

  it('returns the content that was loaded', async () => {
    expect(await tool.execute()).toBe('# PDF\n')
  })
})

describe('a tool for Anthropic', () => {
  it('has the type that Anthropic publishes', () => {
    const tool = toTool(skill, 'anthropic') satisfies AnthropicSdkTool
    expect(Object.keys(tool).toSorted()).toEqual(['description', 'input_schema', 'name'])
  })
})

describe('a generic tool', () => {
  it('becomes a valid MCP tool if its field `parameters` is renamed to `inputSchema`', () => {
    const { name, description, parameters } = toTool(skill, 'generic')
    const tool = { name, description, inputSchema: parameters }
    expect(ToolSchema.parse(tool)).toEqual(tool)
  })

  it('has a JSON Schema (2020-12) that validates arguments against the contract of the skill', () => {
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(toTool(skill, 'generic').parameters)
    expect(validate(valid)).toBe(true)
    for (const wrong of invalid) expect(validate(wrong)).toBe(false)
  })
})
