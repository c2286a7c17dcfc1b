import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toTool, toToolNames, type GenericTool } from '@skillstead/skill-format/loading'
import { defineTool, loaded } from '../support/tool-acts.ts'

const ajv = new Ajv2020()
const compiling = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
const json = fc.jsonValue({ maxDepth: 6 })
/** Possible input where a schema is expected: keywords with values of any kind, and hostile names. */
const keyword = fc.constantFrom(
  ...'type properties required items enum const default anyOf oneOf allOf not additionalProperties $ref $defs format'.split(
    ' ',
  ),
  ...'description title pattern minimum maxLength multipleOf uniqueItems __proto__ constructor toString name'.split(
    ' ',
  ),
)
const typeName = fc.constantFrom('string', 'object', 'array', 'integer', 'null', 'text', 'int', 'date', 'constructor')
const { schema: hostile } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      typeName,
      json,
      fc.constantFrom('#', '#/$defs/a', '#/properties', -0, 1e308),
      fc.string({ unit: 'binary' }),
    ),
    fc.array(tie('schema'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.oneof(keyword, fc.string({ unit: 'binary' })), tie('schema')), { maxLength: 6 }).map(toOwn),
    fc
      .tuple(typeName, tie('schema'), tie('schema'))
      .map(([type, a, b]) => ({ type, properties: { a, b }, $defs: { a, b } })),
  ),
}))

/** Creates objects like JSON.parse: `__proto__` is an ordinary key. */
function toOwn(entries: [string, unknown][]): object {
  return Object.fromEntries(entries)
}

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...keysOf(item)])
}

function expectValid({ name, description, parameters }: GenericTool) {
  expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(description.length).toBeGreaterThan(0)
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(description.isWellFormed()).toBe(true)
  expect(ajv.validateSchema(parameters), JSON.stringify(parameters)).toBe(true)
  expect(parameters.type).toBe('object')
  expect(
    Object.keys(parameters).every((key) => topKeys.has(key)),
    JSON.stringify(parameters),
  ).toBe(true)
  for (const property of Object.keys(parameters.properties)) expect(property).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
  const text = JSON.stringify(parameters)
  expect(JSON.parse(text)).toEqual(parameters)
  expect(text.isWellFormed()).toBe(true)
  expect(text.length).toBeLessThan(25_000)
  expect(keysOf(parameters)).not.toContain('__proto__')
}
const topKeys = new Set(['type', 'properties', 'required', 'description', 'additionalProperties'])

describe('the tool created from any contract', () => {
  it('has a valid JSON Schema of an object, and converting this schema again does not change it', () => {
    fc.assert(
      fc.property(hostile, (inputs) => {
        const tool = defineTool(inputs)
        expectValid(tool)
        expect(defineTool(tool.parameters)).toEqual(tool)
        // It compiles: no reference is unresolved, and no regular expression is run.
        expect(() => compiling.compile(tool.parameters)).not.toThrow()
      }),
      { numRuns: 1000, endOnFailure: true },
    )
    expect({}).not.toHaveProperty('type')
  })

  it('has a valid name and description, whatever the name and description of the skill are', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ minLength: 900, maxLength: 3000 }))
    const property = fc.property(text, text, (name, description) =>
      expectValid(defineTool(null, { name, description })),
    )
    expect(() => fc.assert(property, { endOnFailure: true })).not.toThrow()
  })

  it('stays small for huge, deep, wide or cyclic contracts', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, { type: 'string' }]))
    const deep: Record<string, unknown> = {}
    let at = deep
    for (let i = 0; i < 5000; i++) at = at.items = { type: 'array' } as Record<string, unknown>
    const ring: Record<string, unknown> = { type: 'object' }
    ring.properties = { ring, rings: { anyOf: [ring, ring] } }
    const $defs = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [
        `d${i}`,
        { anyOf: Array.from({ length: 9 }, () => ({ $ref: `#/$defs/d${i + 1}` })) },
      ]),
    )
    const bomb = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs }
    const long = {
      type: 'object',
      properties: { a: { enum: Array(5000).fill('x'.repeat(300)), title: 'y'.repeat(1e6) } },
    }
    const lists = [Array(1e5).fill('a: b'), Array(1e5).fill('some words of prose'), 'z'.repeat(1e6)]
    for (const inputs of [
      wide,
      { type: 'object', properties: wide },
      deep,
      { type: 'object', ...deep },
      ring,
      bomb,
      long,
      ...lists,
    ]) {
      const tool = defineTool(inputs)
      expectValid(tool)
      expect(defineTool(tool.parameters)).toEqual(tool)
    }
    expect(Object.keys(defineTool(wide).parameters.properties)).toHaveLength(100)
  })
})

describe('a skill from an untrusted node', () => {
  it('is converted to a valid tool, even if the tool definition from the node is invalid', () => {
    const parameters = JSON.parse(
      '{ "type": "string", "oneOf": 3, "__proto__": { "x": 1 }, "properties": { "a b": 1 } }',
    )
    const tool = toTool(loaded({ toolDefinition: { name: 'rm -rf /', description: '', parameters } }), 'generic')
    expectValid(tool)
    expect(tool.name).toBe('rm-rf')
  })
})

function names(...fullNames: string[]): string[] {
  return toToolNames(fullNames.map((fullName) => ({ fullName })))
}

describe('the names of several tools', () => {
  it('are the short names of the skills, with the owner if two skills have the same short name', () => {
    expect(names('alice/pdf', 'bob/csv', 'bob/pdf')).toEqual(['alice-pdf', 'csv', 'bob-pdf'])
    expect(names('alice/pdf', 'bob/pdf', 'carol/alice-pdf')).toEqual(['alice-pdf', 'bob-pdf', 'alice-pdf-2'])
    const [long, other] = names(`${'a'.repeat(39)}/${'n'.repeat(64)}`, `${'b'.repeat(39)}/${'n'.repeat(64)}`)
    expect(long).toMatch(/^a{39}-n{16}-[a-z0-9]{7}$/)
    expect(other).toMatch(/^b{39}-n{16}-[a-z0-9]{7}$/)
  })

  it('are unique, and valid for all supported model APIs', () => {
    const part = fc.stringMatching(/^[a-c-]{1,3}$|^n{60,64}$/)
    const fullName = fc.oneof(
      fc.tuple(part, part).map((parts) => parts.join('/')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(fullName, { maxLength: 30 }), (list) => {
        const made = names(...list)
        expect(made).toHaveLength(list.length)
        expect(new Set(made).size).toBe(list.length)
        for (const name of made) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      }),
    )
  })
})
