import { limits } from '@skillstead/protocol'
import { noRequires, parseRequirement, parseSkillMd, parseVersionRange, readRequires } from '@skillstead/skill-format'
import { describe, expect, it } from 'vitest'

function read(...lines: string[]) {
  return readRequires(
    parseSkillMd(`---\nname: report\ndescription: Writes reports.\n${lines.join('\n')}\n---\n# Report\n`),
  )
}
const skillsOf = (...lines: string[]) =>
  read(...lines).requires.skills.map(({ name, range, optional }) => `${name}@${range}${optional ? '?' : ''}`)

describe('the reader of the requirements of a skill', () => {
  it.each<[expected: string[], ...lines: string[]]>([
    [['pdf@*'], 'requires: [pdf]'],
    [['pdf@*', 'acme/forms@^1.2.0'], 'metadata:', '  requires: [pdf, acme/forms@^1.2.0]'],
    [['pdf@~1.2.0'], 'metadata:', '  requires:', '    skills: [{ name: pdf, range: ~1.2.0 }]'],
    [['pdf@1.2.3'], 'requires:', '  skills:', '    - name: pdf', '      version: 1.2.3'],
    [['pdf@>=1.2.0'], 'requires:', '  - name: pdf', '    min-version: 1.2.0'],
    [['acme/pdf@^2.0.0', 'forms@*'], 'requires:', '  acme/pdf: ^2.0.0', '  forms: "*"'],
    [['pdf@^1', 'forms@>=2.0.0'], 'metadata:', '  requires: "pdf@^1, forms >=2.0.0"'],
    [['pdf@*', 'forms@*'], 'metadata:', '  requires: pdf forms'],
    [['acme/pdf@^1.0.0'], 'requires: ["@acme/pdf@^1.0.0"]'],
    [['pdf@>=1.0.0 <3.0.0'], 'requires: ["pdf (>=1.0.0 <3.0.0)"]'],
    [['pdf@*'], 'requires: [pdf@latest]'],
    [['pdf@*?'], 'requires:', '  - { name: pdf, optional: true }'],
    [['pdf@^1.0.0'], 'requires: { pdf: { range: ^1.0.0 } }'],
    [['pdf@>=2.0.0'], 'requires: { pdf: { min-version: 2.0.0 } }'],
    [['pdf@^1.0.0'], 'requires: { pdf: ["^1.0.0"] }'],
    [
      ['pdf@^1.0.0?', 'acme/forms@*?'],
      'requires: { pdf: { version: ^1.0.0, optional: true }, acme/forms: { optional: true } }',
    ],
    [['pdf@*'], 'requires: { pdf: }'],
    [['adexmo@*?'], 'dependencies:', '  - adexmo'],
    [['sethmblack/transform@*?'], 'dependencies: [sethmblack/transform]'],
    [['evaluation@*?'], 'depends: evaluation'],
    [
      ['audience-builder@*?'],
      'prerequisite-skills:',
      '  - slug: audience-builder',
      '    reason: Defines the audience.',
    ],
    [['gws-drive@*?'], 'metadata:', '  openclaw:', '    requires: { bins: [gws], skills: [gws-drive] }'],
    [['trifle-auth@*?'], 'metadata:', '  depends: [trifle-auth]'],
    [[], 'dependencies: []'],
    [['python@>=3.8?', 'jsonschema@>=4.0.0?'], 'dependencies: python>=3.8, jsonschema>=4.0.0'],
  ])('reads the skills %j', (expected, ...lines) => {
    expect(skillsOf(...lines)).toEqual(expected)
    expect(read(...lines).refusals).toEqual([])
  })

  it('reads commands, MCP servers and environment variables, including the spelling of OpenClaw', () => {
    expect(
      read(
        'requires:',
        '  commands: [git, node]',
        '  mcpServers: [github]',
        '  env: [{ name: API_KEY }, { name: EXTRA, required: false }]',
        'metadata:',
        '  openclaw:',
        '    requires: { bins: [curl], anyBins: [rg, grep], env: [OTHER_KEY] }',
      ),
    ).toEqual({
      requires: {
        skills: [],
        commands: ['git', 'node', 'curl', 'rg | grep'],
        mcpServers: ['github'],
        env: ['API_KEY', 'OTHER_KEY'],
      },
      refusals: [],
      warnings: [],
    })
  })

  it.each([
    ['requires: [pdf@>>1]', /'pdf@>>1' has no valid range. Write a range/],
    ['requires: [pdf@1.0.0-beta]', /no valid range/],
    ['requires: { pdf: true }', /no valid range/],
    ['requires: { pdf: ["^1.0.0", "^2.0.0"] }', /'pdf: \{…\}' has no valid range/],
    ['requires: { pdf: [{ a: 1 }] }', /no valid range/],
    ['requires: { pdf: [] }', /no valid range/],
    ['requires: { pdf: {} }', /no valid range/],
    ['requires: { pdf: { raneg: ^1.0.0 } }', /no valid range/],
    ['requires: { pdf: { range: { min: 1 } } }', /no valid range/],
    ['requires: { pdf: { range: true } }', /no valid range/],
    ['requires: [Not A Skill!]', /is not a skill. Write owner\/name/],
    ['requires: [a/b/c]', /is not a skill/],
    ['requires: [../../etc/passwd]', /is not a skill/],
    ['requires: [report]', /cannot require itself/],
    ['requires: [pdf@^1, pdf@^2]', /required as \^1 and as \^2/],
    ['requires: { commands: ["rm -rf /"] }', /no valid name in commands/],
    ['requires: { env: ["A=B"] }', /no valid name in env/],
    [
      `requires: [${Array.from({ length: limits.requirementsMax + 1 }, (_, i) => `skill-${i}`).join(', ')}]`,
      /more than 100/,
    ],
    [`requires: ["pdf@${'^1 || '.repeat(40)}^1"]`, /no valid range/],
  ])('refuses %s', (line, message) => {
    const { refusals } = read(line)
    expect(refusals).toMatchObject([{ code: 'requires_invalid', line: 4 }])
    expect(refusals[0]!.message).toMatch(message)
  })

  it('only warns about the key `dependencies`, which may mean something else', () => {
    const { requires, refusals, warnings } = read('dependencies: ["Node 20", "python>=>3"]')
    expect([requires, refusals]).toEqual([noRequires, []])
    expect(warnings).toHaveLength(2)
  })

  it('never throws, whatever the value of the key', () => {
    for (const value of [
      '1',
      'true',
      '[[[]]]',
      '{ skills: { a: { b: 1 } } }',
      '{ env: 5 }',
      '[null, 3, {}]',
      '""',
      '~',
    ])
      for (const key of ['requires', 'dependencies']) expect(read(`${key}: ${value}`)).toBeDefined()
  })

  it.each([
    ['pdf@^1.2.0', { name: 'pdf', range: '^1.2.0' }],
    ['acme/pdf', { name: 'acme/pdf', range: '*' }],
    ['@acme/pdf@~1.2', { name: 'acme/pdf', range: '~1.2' }],
    ['PDF', undefined],
    ['', undefined],
  ])('parses %s', (text, expected) => expect(parseRequirement(text)).toEqual(expected))
})

describe('a range of versions', () => {
  it.each([
    ['^1.2.0', ['1.2.0', '1.9.9'], ['1.1.9', '2.0.0']],
    ['~1.2.0', ['1.2.5'], ['1.3.0']],
    ['1.2.3', ['1.2.3'], ['1.2.4']],
    ['1.0.0 - 1.2.0', ['1.2.0'], ['1.2.1']],
    ['^1 || ^3', ['1.5.0', '3.0.0'], ['2.0.0']],
    ['*', ['0.0.0', '9999999999.0.0'], []],
    [' >=1.0.0   <2 ', ['1.5.0'], ['2.0.0']],
  ])('%s includes the expected versions', (text, inside, outside) => {
    const range = parseVersionRange(text)!
    expect([...inside, ...outside].filter(range.includes)).toEqual(inside)
  })

  it.each(['', '1 ||', 'latest', '>>1', '1.0.0-beta', '^1.0.0-rc.1', 'abc', '1'.repeat(201), '1.0.0+build', '!1'])(
    'is not %s',
    (text) => {
      expect(parseVersionRange(text)).toBeUndefined()
    },
  )
})
