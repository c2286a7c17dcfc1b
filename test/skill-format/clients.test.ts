import { describe, expect, it } from 'vitest'
import { findClientProblems, reportClient, skillClients } from '@skillstead/protocol'
import { checkPortability, parseSkillMd, readContract, readSkillFields } from '@skillstead/skill-format'

const doc = (...lines: string[]) => ['---', ...lines, '---', 'Body.', ''].join('\n')
const sound = ['name: tidy', 'description: Tidies a folder.']
const adviceOf = (text: string) => checkPortability(text, parseSkillMd(text)).warnings.map(({ message }) => message)
const contractOf = (lines: readonly string[]) => readContract(parseSkillMd(doc(...sound, ...lines)))
const report = (id: string, text: string, folderName?: string) =>
  reportClient(
    parseSkillMd(text),
    skillClients.find((client) => client.id === id)!,
    folderName,
  )

describe('the advice about keys outside the open format', () => {
  it.each(
    skillClients.flatMap(({ id, title, reads }) =>
      reads
        .filter((key) => !['license', 'compatibility', 'metadata', 'allowed-tools'].includes(key))
        .map((key) => [id, title, key]),
    ),
  )('leaves a key that %s reads at the top level (%s: %s)', (_id, title, key) => {
    const [message, ...others] = adviceOf(doc(...sound, `${key}: abc`))
    expect(others).toEqual([])
    expect(message).toContain('Leave it')
    expect(message).toContain(title)
    expect(message).not.toContain('Move it')
  })

  it.each(['author: me', 'x-team: 7', 'version: 1.2.3', 'category: writing', 'tags: a, b'])(
    'recommends moving a key below metadata if no client reads it at the top level: %s',
    (line) => {
      const [message] = adviceOf(doc(...sound, line))
      expect(message).toContain("Move it below 'metadata'.")
      const moved = doc(...sound, 'metadata:', `  ${line.replace('7', '"7"')}`)
      expect(adviceOf(moved)).toEqual([])
    },
  )

  it.each([
    [['version: 1.2.3'], ['metadata:', '  version: 1.2.3']],
    [
      ['keywords:', '  - pdf', '  - forms'],
      ['metadata:', '  keywords: pdf, forms'],
    ],
    [
      ['metadata:', '  tags:', '    - pdf', '    - forms'],
      ['metadata:', '  tags: pdf, forms'],
    ],
  ])('loses no field of the registry when it is followed: %j', (before, after) => {
    const [first, second] = [before, after].map((lines) => readSkillFields(parseSkillMd(doc(...sound, ...lines))))
    expect({ ...second, warnings: [] }).toEqual({ ...first, warnings: [] })
    expect(adviceOf(doc(...sound, ...before))[0]).toMatch(/below 'metadata'|as one text/)
    expect(adviceOf(doc(...sound, ...after))).toEqual([])
  })

  it.each([
    ['Name', 'name', "The key 'Name' is not read: keys are lower case. Write 'name'."],
    ['License', 'license', "Write 'license'."],
    ['allowed_tools', 'allowed-tools', "The key 'allowed_tools' is not read. Write 'allowed-tools'."],
  ])('names the key of the format that %s stands for', (written, key, message) => {
    const others = sound.filter((line) => !line.startsWith(`${key}:`))
    expect(adviceOf(doc(...others, `${written}: tidy`)).join('\n')).toContain(message)
  })
})

describe('the contract of inputs and outputs', () => {
  const contract = ['inputs:', '  - name: path', '    description: a file', 'outputs:', '  - name: report']
  const below = ['metadata:', ...contract.map((line) => `  ${line}`)]

  it('belongs at the top level, according to the advice of lint', () => {
    const advice = adviceOf(doc(...sound, ...contract))
    expect(advice).toHaveLength(2)
    for (const message of advice) expect(message).toMatch(/Leave it: Skillstead reads it only at the top level/)
    const other = adviceOf(doc(...sound, ...below))
    expect(other).toHaveLength(2)
    for (const message of other) expect(message).toMatch(/Move it to the top level, where Skillstead reads it/)
  })

  it('is the same below metadata as at the top level', () => {
    expect(contractOf(below)).toEqual(contractOf(contract))
    expect(contractOf(contract)).toMatchObject({ inputs: [{ name: 'path' }], outputs: [{ name: 'report' }] })
  })

  it('is read from the top level first, and is null if it is declared in neither place', () => {
    expect(contractOf(['inputs: top', 'metadata:', '  inputs: below'])).toEqual({ inputs: 'top', outputs: null })
    expect(contractOf(['metadata:', '  a: b'])).toBeNull()
  })
})

const problemsOf = (frontmatter: Record<string, unknown>) =>
  skillClients.flatMap((client) => {
    const { loads, problems } = findClientProblems({ frontmatter }, client, 'tidy')
    return problems.length > 0 ? [`${client.id} ${loads} ${problems.join('; ')}`] : []
  })

describe('the report about a client', () => {
  it('confirms a portable skill for every client', () => {
    for (const { id } of skillClients)
      expect(report(id, doc(...sound), 'tidy')).toMatchObject({ client: id, loads: true, notes: [] })
  })

  it.each([
    ['codex', [`description: ${'d'.repeat(1025)}`, 'name: a'], 'its description is longer than 1024 characters'],
    ['codex', [`name: ${'a'.repeat(65)}`, 'description: d'], 'its name is longer than 64 characters'],
    ['opencode', ['name: Data_Tools', 'description: d'], 'its name is not 1 to 64 lower-case letters'],
    ['copilot', ['name: other', 'description: d'], 'its name is not the name of its folder'],
    ['gemini-cli', ['name: a'], 'it has no description'],
    ['omp', ['name: a', 'description: ""'], 'it has no description'],
    ['agentskills', [...sound, 'hooks: a'], 'it has keys outside the open format'],
    ['cursor', ['name: a', 'description: "never ends', 'license: MIT'], 'its frontmatter is not valid YAML'],
  ])('of %s names why the skill is skipped: %j', (id, lines, reason) => {
    const { loads, notes } = report(id, doc(...lines), 'tidy')
    expect(loads).toBe(false)
    expect(notes.join('\n')).toContain(reason)
  })

  it.each([
    ['claude-code', [...sound, 'license: MIT', 'inputs: a'], 'ignores license, inputs'],
    ['claude-code', ['description: d', `when_to_use: ${'w'.repeat(1536)}`], 'lists 1536 of 1537 characters'],
    ['codex', [...sound, 'hooks: a'], 'ignores hooks'],
    ['omp', [...sound, 'hooks: a'], 'skips it in a plugin'],
    ['gemini-cli', [...sound, 'model: x'], 'ignores model'],
  ])('of %s names what is cut or ignored: %j', (id, lines, note) => {
    const { loads, notes } = report(id, doc(...lines))
    expect(loads).toBe(true)
    expect(notes.join('\n')).toContain(note)
  })

  it('lists as a problem only a reason why a client cannot load the whole skill', () => {
    expect(problemsOf({ name: 'tidy', description: 'd', license: 'MIT' })).toEqual([])
    expect(problemsOf({ name: 'tidy', description: 'd', model: 'x' })).toEqual([
      'agentskills false skips it: it has keys outside the open format',
    ])
    const long = problemsOf({ name: 'tidy', description: 'd'.repeat(1537) })
    expect(long).toContain('claude-code true lists 1536 of 1537 characters of description and when_to_use')
    expect(long).toContain('codex false skips it: its description is longer than 1024 characters')
    expect(long.filter((line) => line.startsWith('goose'))).toEqual([])
    expect(problemsOf({})).toHaveLength(skillClients.length - 1)
  })

  it('counts characters, not UTF-16 units, and shortens long lists of keys', () => {
    expect(report('codex', doc('name: a', `description: ${'😀'.repeat(1024)}`)).loads).toBe(true)
    const many = Array.from({ length: 30 }, (_, i) => `k${i}: v`)
    expect(report('codex', doc(...sound, ...many)).notes.join()).toMatch(/k9 and 20 more$/)
  })
})
