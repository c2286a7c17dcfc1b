import { describe, expect, it } from 'vitest'
import { toTool, toToolDefinition } from '@skillstead/skill-format/loading'
import { parseSkillMd, readContract } from '@skillstead/skill-format'
import { defineTool, loaded } from '../support/tool-acts.ts'

const input = { type: 'string', description: 'Description of the task.' }

function parametersOf(...frontmatter: string[]) {
  const text = `---\nname: pdf\n${frontmatter.join('\n')}\n---\n# PDF\n`
  return defineTool(readContract(parseSkillMd(text))?.inputs).parameters
}

function propertiesOf(...items: string[]) {
  return defineTool(items).parameters.properties
}

describe('the definition of a tool', () => {
  it('has one optional text parameter if the skill declares no inputs', () => {
    const skill = { name: 'pdf', fullName: 'alice/pdf', description: 'Fill PDF forms.', contract: null }
    expect(toToolDefinition(skill)).toEqual({
      name: 'pdf',
      description: 'Fill PDF forms.',
      parameters: { type: 'object', properties: { input } },
    })
    for (const nothing of [null, undefined, [], '', ' ', 7, true])
      expect(defineTool(nothing).parameters).toEqual({ type: 'object', properties: { input } })
  })

  it('keeps inputs given as a JSON Schema unchanged, except for the identifiers of the schema', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.com/pdf',
      type: 'object',
      properties: {
        file: { type: 'string', minLength: 1, description: 'The form' },
        pages: { type: 'array', items: { type: 'integer', minimum: 1 }, uniqueItems: true },
        mode: { enum: ['fill', 'flatten', null], default: 'fill' },
        at: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
      },
      required: ['file'],
      additionalProperties: false,
    }
    const { $schema: _, $id: __, ...kept } = schema
    expect(defineTool(schema).parameters).toEqual(kept)
  })

  it('accepts inputs as a mapping of names to types, schemas, choices or descriptions', () => {
    expect(
      parametersOf(
        'inputs:',
        '  file: string',
        '  pages: integer[]',
        '  form: The form to fill',
        '  dpi: int?',
        '  mode: [fill, flatten]',
        '  scale: { type: float, required: true, description: Of the page }',
        '  password: string - of the document',
        '  title: { description: For the file }',
        '  copies: 2',
      ),
    ).toEqual({
      type: 'object',
      properties: {
        file: { type: 'string' },
        pages: { type: 'array', items: { type: 'integer' } },
        form: { type: 'string', description: 'The form to fill' },
        dpi: { type: 'integer' },
        mode: { type: 'string', enum: ['fill', 'flatten'] },
        scale: { type: 'number', description: 'Of the page' },
        password: { type: 'string', description: 'of the document' },
        title: { type: 'string', description: 'For the file' },
        copies: { type: 'number', default: 2 },
      },
      required: ['scale'],
    })
  })

  it('accepts inputs as a list of mappings that contain the name of the input', () => {
    const [first, second] = [
      '  - { name: query, type: string, required: true, description: What is sought }',
      '  - limit: At most so many',
    ]
    expect(parametersOf('inputs:', first, second)).toEqual({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What is sought' },
        limit: { type: 'string', description: 'At most so many' },
      },
      required: ['query'],
    })
  })

  it('reads inputs from the lines of a list below a heading', () => {
    const body = [
      '## Parameters',
      '- `path` (string, required): The file',
      '- **limit** (number) - At most so many',
      '- --model, -m: Model to use',
      '- tokenId (the id of an API token)',
      '- Budget range — about how much',
      '- verbose (boolean, optional)',
      '- text',
    ]
    const parsed = parseSkillMd(`---\nname: pdf\n---\n${body.join('\n')}\n`)
    expect(defineTool(readContract(parsed)?.inputs).parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file' },
        limit: { type: 'number', description: 'At most so many' },
        model: { type: 'string', description: 'Model to use' },
        tokenId: { type: 'string', description: '(the id of an API token)' },
        Budget_range: { title: 'Budget range', type: 'string', description: 'about how much' },
        verbose: { type: 'boolean' },
        text: { type: 'string' },
      },
      required: ['path'],
    })
  })

  it('uses lines that contain no input name as the description of one text parameter', () => {
    const lines = ['What you sell and to whom', 'Pricing and packaging (if publicly available)']
    expect(propertiesOf(...lines)).toEqual({ input: { type: 'string', description: lines.join('; ') } })
    expect(propertiesOf('path: The file', lines[0]!)).toEqual({
      path: { type: 'string', description: 'The file' },
      input: { type: 'string', description: lines[0] },
    })
    expect(defineTool('Any text will do').parameters.properties).toEqual({
      input: { type: 'string', description: 'Any text will do' },
    })
  })

  it('wraps a schema that does not describe an object in an object', () => {
    expect(defineTool({ type: 'array', description: 'Rows' }).parameters).toEqual({
      type: 'object',
      properties: { input: { type: 'array', description: 'Rows', items: {} } },
    })
  })

  it('inlines references in a schema, including cyclic references', () => {
    const node = { type: 'object', properties: { name: { $ref: '#/$defs/name' }, next: { $ref: '#/$defs/node' } } }
    const $defs = { name: { type: 'string' }, node, loop: { $ref: '#/$defs/loop' } }
    const properties = {
      first: { $ref: '#/$defs/node' },
      loop: { $ref: '#/$defs/loop', description: 'Round' },
      afar: { $ref: 'https://example.com/schema', type: 'string' },
    }
    expect(defineTool({ type: 'object', properties, $defs }).parameters.properties).toEqual({
      first: { type: 'object', properties: { name: { type: 'string' }, next: {} } },
      loop: { description: 'Round' },
      afar: { type: 'string' },
    })
    expect(defineTool({ $ref: '#/definitions/x', definitions: { x: node } }).parameters.properties).toHaveProperty(
      'name',
    )
  })

  it('removes top-level alternatives and all regular expressions from a schema', () => {
    const { parameters } = defineTool({
      type: ['object', 'null'],
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      properties: { a: { type: 'string', pattern: '^(a+)+$', description: 'Letters' }, b: { type: 'array' } },
      patternProperties: { '^(a+)+$': {} },
      required: ['a', 'a', 'z', 3],
    })
    expect(parameters).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'Letters (pattern: ^(a+)+$)' },
        b: { type: 'array', items: {} },
      },
      required: ['a'],
    })
  })

  it('renames properties with invalid names, or with the names of inherited properties', () => {
    const { properties } = defineTool({
      'the file': 'string',
      名前: 'string',
      the_file: 'string',
      constructor: 'string',
    }).parameters
    expect(properties).toEqual({
      the_file: { title: 'the file', type: 'string' },
      input: { title: '名前', type: 'string' },
      the_file_2: { title: 'the_file', type: 'string' },
      constructor_2: { title: 'constructor', type: 'string' },
    })
  })

  it('truncates a long description after a word, and fills in a missing description', () => {
    const { description } = defineTool(null, { description: 'word '.repeat(800) })
    expect(description).toMatch(/^(?:word )+word$/)
    expect(description.length).toBeGreaterThan(1000)
    expect(description.length).toBeLessThanOrEqual(1024)
    expect(defineTool(null, { description: ' \n ' }).description).toBe('The skill alice/pdf.')
    expect(defineTool(null, { description: 'Two\nlines\u0000 of it' }).description).toBe('Two lines of it')
  })
})

describe('a loaded skill', () => {
  it('converts to a tool of each framework, at any level', async () => {
    const { parameters } = defineTool({ file: 'string' })
    const toolDefinition = { name: 'pdf', description: 'Fill PDF forms.', parameters }
    const full = loaded({ level: 'full', toolDefinition, summary: 'Short', fullContent: 'All of it' })
    expect(toTool(full, 'generic')).toEqual(toolDefinition)
    expect(toTool(full, 'openai')).toEqual({ type: 'function', function: toolDefinition })
    const { name, description } = toolDefinition
    expect(toTool(full, 'anthropic')).toEqual({ name, description, input_schema: parameters })
    const { func, ...langchain } = toTool(full, 'langchain')
    expect(langchain).toEqual({ name, description, schema: parameters })
    expect(await func()).toBe('All of it')
    expect(await toTool(loaded({ summary: 'Short' }), 'langchain').func()).toBe('Short')
    expect(await toTool(loaded(), 'langchain').func()).toBe('Fill PDF forms.')
    expect(toTool(loaded(), 'generic')).toEqual(defineTool(null))
    expect(toTool(loaded({ contract: { inputs: { file: 'string' }, outputs: null } }), 'generic')).toEqual(
      toolDefinition,
    )
  })

  it('converts to a tool with a given name, and rejects an invalid name or framework', () => {
    expect(toTool(loaded(), 'openai', { name: 'alice_pdf' }).function.name).toBe('alice_pdf')
    for (const name of ['', 'alice/pdf', 'a'.repeat(65), 'ä'])
      expect(() => toTool(loaded(), 'generic', { name })).toThrow(/Invalid tool name '.*'\. Use 1 to 64 letters/)
    expect(() => toTool(loaded(), 'crewai' as 'generic')).toThrow(
      "Unknown framework 'crewai'. Use one of langchain, openai, openai-responses, ai, anthropic, generic.",
    )
    expect(() => toTool(loaded(), 'constructor' as 'generic')).toThrow(TypeError)
  })
})
