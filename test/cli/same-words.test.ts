import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openSkills, systemCaller } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { describe, expect, it, onTestFinished } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const doc = (...lines: string[]) => `---\n${lines.join('\n')}\n---\nIt reads the files of a folder.\n`
const sound = ['name: sound', 'description: Reads files.']

interface Fault {
  readonly skillMd: string
  readonly paths?: readonly string[]
  /** The content of these files. */
  readonly content?: string
  /** The sentence that each way in says. */
  readonly words: string
  /** Whether an import takes the skill, and warns of the fault. */
  readonly isImported: boolean
}

const named = (name: string): string => doc(`name: ${name}`, 'description: Reads files.')
const file = (words: string, ...paths: string[]): Fault => ({ skillMd: doc(...sound), paths, words, isImported: false })
const mcp = (words: string, content: string): Fault => ({ ...file(words, 'mcp.json'), content })
const toMcp = (server: object): string =>
  JSON.stringify({ $schema: 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json', mcpServers: { a: server } })
const field = (words: string, skillMd: string): Fault => ({ skillMd, words, isImported: true })
const rule = 'is not a skill name: 1 to 64 lower-case letters, digits and single hyphens.'

const faults: Record<string, Fault> = {
  'a name with an underscore': field(`'Data_Tools' ${rule} Use 'data-tools'.`, named('Data_Tools')),
  'a name of 65 letters': field(`'${'a'.repeat(65)}' ${rule} Use '${'a'.repeat(64)}'.`, named('a'.repeat(65))),
  'a name in Chinese': field(`'数据' ${rule} Pass a name explicitly.`, named('数据')),
  'a placeholder for a name': field(
    "'{{NAME}}' is a placeholder or no text. Write the name of the skill.",
    named('"{{NAME}}"'),
  ),
  'another placeholder': field("'<name>' is a placeholder or no text. Write the name of the skill.", named('<name>')),
  'a key in another case': field(
    "The key 'Name' is not read: keys are lower case. Write 'name'.",
    doc('Name: sound', 'description: d'),
  ),
  'a placeholder for a description': field(
    "'${what}' is a placeholder. Write what the skill does.",
    doc('name: sound', 'description: "${what}"'),
  ),
  'a description in another case': field(
    "The key 'DESCRIPTION' is not read: keys are lower case. Write 'description'.",
    doc('name: sound', 'DESCRIPTION: d'),
  ),
  'a pre-release': field(
    "'1.0.0-beta' is not three numbers. Write '1.0.0', or pass a version.",
    doc(...sound, 'version: 1.0.0-beta'),
  ),
  'a pre-release below metadata': field(
    "'v2.1.0+7' is not three numbers. Write '2.1.0', or pass a version.",
    doc(...sound, 'metadata:', '  version: v2.1.0+7'),
  ),
  'a version of two numbers': field(
    "'1.10' is not three numbers. Write '1.10.0', or pass a version.",
    doc(...sound, 'version: 1.10'),
  ),
  'a version with a v': field(
    "'v1.0.0' is not three numbers. Write '1.0.0', or pass a version.",
    doc(...sound, 'version: v1.0.0'),
  ),
  'a version of four numbers below metadata': field(
    "'1.2.3.4' is not three numbers. Write three numbers such as 1.0.0, or pass a version.",
    doc(...sound, 'metadata:', '  version: 1.2.3.4'),
  ),
  'a word for a version': field("'latest' is not three numbers. Write three", doc(...sound, 'version: latest')),
  'a range for a version': field("'1.0.x' is not three numbers. Write three", doc(...sound, 'version: 1.0.x')),
  'two names': field("The key 'name' occurs in lines 2 and 4. Keep one of them.", doc(...sound, 'name: sound')),
  'two names, the last one invalid': field("The key 'name' occurs in lines 2 and 4.", doc(...sound, 'name: Sound_')),
  'two descriptions in a frontmatter that is not valid': field(
    "The key 'description' occurs in lines 3 and 5. Keep one of them.",
    doc(...sound, 'license: a: b', 'description: Writes files.'),
  ),
  'a name that Windows reserves': file('con.txt', 'con.txt'),
  'a character that Windows has not': file('a?.txt', 'a?.txt'),
  'an mcp.json of another version': mcp('mcp.json: $schema: must be https', toMcp({}).replace('1.0.0', '2.0.0')),
  'an mcp.json that is not JSON': mcp('mcp.json: The file is not JSON.', `// servers\n${toMcp({})}`),
  'an mcp.json with a command elsewhere': mcp(
    'mcp.json: mcpServers.a.command: "../x" is a path of another place.',
    toMcp({ type: 'stdio', command: '../x' }),
  ),
  'an mcp.json with a command that the skill lacks': mcp(
    'mcp.json: mcpServers.a.command: The skill has no file "./x".',
    toMcp({ type: 'stdio', command: './x' }),
  ),
  'an mcp.json with a password': mcp(
    'mcp.json: mcpServers.a.url: must be an http or https URL without user',
    toMcp({ type: 'sse', url: 'https://a:b@acme.dev/' }),
  ),
  'an mcp.json in another case': {
    ...file('MCP.json: Name it mcp.json', 'MCP.json'),
    content: toMcp({}),
  },
  'two files of one name': file('readme.md', 'README.md', 'readme.md'),
}

describe.each(Object.entries(faults))('%s', (_, { skillMd, paths = [], content = 'text', words, isImported }) => {
  it('is named in the same words by lint, a dry run, a publish and an import', async () => {
    const folder = join(await makeFolder(), 'sound')
    for (const path of ['SKILL.md', ...paths]) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), path === 'SKILL.md' ? skillMd : content)
    }
    const skills = await openSkills({ path: ':memory:', profile: 'short', as: 'alice' })
    onTestFinished(() => skills.close())
    const input = { skillMd, files: paths.map((path) => ({ path, content })) }
    const linted = await skillstead(['lint', folder])
    const [dry, published] = [true, false].map((dryRun) => refusalOf(skills.api.publishSkill({ ...input, dryRun })))
    const version = {
      owner: 'bob',
      name: 'sound',
      skillMd,
      files: paths.map((path) => ({ path, bytes: encode(content) })),
    }
    const [outcome] = await importVersions(partsOf(skills.registry), [version], systemCaller)
    const said = outcome!.error ? [outcome!.error.message] : outcome!.warnings.map(({ message }) => message)
    expect(linted.code).toBe(1)
    expect(linted.stdout).toContain(words)
    expect((await dry)!.message).toContain(words)
    expect((await published)!.message).toBe((await dry)!.message)
    expect(said.join('\n')).toContain(words)
    expect(outcome!.error === undefined).toBe(isImported)
  })
})

it.each([
  ['a name', 'key_not_standard', "name: The key 'Name' is not read", doc('Name: sound', 'description: d')],
  ['a description', 'key_not_standard', "description: The key 'Desc", doc('name: sound', 'Description: d')],
  ['a description', 'line_ignored', 'description: Line 3 of the', doc('name: sound', 'description:d')],
  ['a name', 'duplicate_key', "name: The key 'name' occurs", doc(...sound, 'name: sound')],
])('%s that is not read causes one finding, not two: %s', async (_, code, words, skillMd) => {
  const folder = join(await makeFolder(), 'sound')
  await mkdir(folder)
  await writeFile(join(folder, 'SKILL.md'), skillMd)
  const skills = await openSkills({ path: ':memory:', profile: 'short', as: 'alice' })
  onTestFinished(() => skills.close())
  const linted = await skillstead(['lint', folder, '--json'])
  const { warnings } = JSON.parse(linted.stdout).skills[0] as { warnings: { code: string }[] }
  expect(warnings.map((warning) => warning.code)).toEqual([code])
  expect((await refusalOf(skills.api.publishSkill({ skillMd })))!.message).toContain(words)
})
