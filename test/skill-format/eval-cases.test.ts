import { describe, expect, it } from 'vitest'
import { readEvalCases } from '@skillstead/skill-format/evals'

/** The files of a skill with these texts, which has a SKILL.md. */
function read(texts: Record<string, string>) {
  const files = Object.entries({ 'SKILL.md': '', ...texts }).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
  return readEvalCases(files)
}

const json = (...evals: object[]) => JSON.stringify({ skill_name: 'csv', evals }, undefined, 2)
const readJson = (...evals: object[]) => read({ 'evals/evals.json': json(...evals) })

describe('cases in evals/evals.json', () => {
  it('are read in the form of the evaluation guide', () => {
    const { cases, problems } = read({
      'evals/files/data/sales.csv': 'a,b',
      'evals/evals.json': json(
        {
          id: 1,
          prompt: 'Chart the sales.',
          expected_output: 'A chart.',
          files: ['evals/files/data/sales.csv'],
          expectations: ['Both axes are labelled'],
        },
        { prompt: 'Count the rows.', expected_output: 'A number.' },
      ),
    })
    expect(problems).toEqual([])
    expect(cases).toMatchObject([
      {
        id: '1',
        prompt: 'Chart the sales.',
        files: [{ path: 'evals/files/data/sales.csv', to: 'data/sales.csv' }],
        checks: [{ kind: 'text', text: 'Both axes are labelled' }],
      },
      { id: '2', checks: [{ name: 'expected_output', kind: 'text', text: 'The result is as described: A number.' }] },
    ])
  })

  it('may have checks that a program evaluates', () => {
    const assertions = [
      { name: 'has the API', type: 'contains', value: 'api.method()' },
      { type: 'not_contains', value: 'old.api', target: { source: 'file', path: 'out.txt' } },
      { type: 'exact', value: '42' },
      { type: 'regex', value: '^\\d+$', flags: 'm' },
      { type: 'json_schema', value: { type: 'object' } },
      { type: 'script', value: 'evals/check.sh' },
      { type: 'file_exists', value: 'out/*.png' },
      { text: 'Is polite' },
    ]
    const { cases, problems } = read({
      'evals/check.sh': 'exit 0',
      'evals/evals.json': json({ prompt: 'Do it.', assertions }),
    })
    expect(problems).toEqual([])
    const target = 'last_message'
    expect(cases[0]!.checks).toEqual([
      { name: 'has the API', kind: 'contains', text: 'api.method()', target },
      { name: 'not_contains old.api', kind: 'not_contains', text: 'old.api', target: { file: 'out.txt' } },
      { name: 'exact 42', kind: 'exact', text: '42', target },
      { name: 'regex ^\\d+$', kind: 'regex', pattern: '^\\d+$', flags: 'm', target },
      { name: 'json_schema', kind: 'json_schema', schema: { type: 'object' }, target },
      { name: 'script evals/check.sh', kind: 'script', path: 'evals/check.sh' },
      { name: 'file_exists out/*.png', kind: 'file_exists', pattern: 'out/*.png', exists: true },
      { name: 'Is polite', kind: 'text', text: 'Is polite', target },
    ])
  })

  it.each<[string, object, string, number]>([
    ['a prompt that is missing', { id: 'a' }, 'evals.1.prompt: is missing.', 8],
    ['a prompt of white space', { prompt: ' \n' }, 'evals.1.prompt: is empty.', 9],
    [
      'a prompt of 64 KiB and more',
      { prompt: 'x'.repeat(65_537) },
      'evals.1.prompt: is longer than 65536 characters.',
      9,
    ],
    [
      'a kind that is unknown',
      { prompt: 'x', assertions: [{ type: 'vibe', value: 'x' }] },
      'evals.1.assertions.0.type: must be one of',
      12,
    ],
    [
      'a pattern that does not compile',
      { prompt: 'x', assertions: [{ type: 'regex', value: '(' }] },
      'Invalid regular expression',
      13,
    ],
    [
      'a file outside of the skill',
      { prompt: 'x', files: ['../../.ssh/id_rsa'] },
      'evals.1.files.0: leads out of its folder',
      11,
    ],
    [
      'an absolute path',
      { prompt: 'x', assertions: [{ type: 'script', value: '/bin/true' }] },
      'leads out of its folder',
      13,
    ],
    ['a path with a backslash', { prompt: 'x', files: ['..\\secret'] }, 'leads out of its folder', 11],
    ['a drive', { prompt: 'x', files: ['C:secret'] }, 'leads out of its folder', 11],
    [
      'a file that the skill does not have',
      { prompt: 'x', files: ['evals/files/none.csv'] },
      "'2' names evals/files/none.csv",
      8,
    ],
    [
      'a script that the skill does not have',
      { prompt: 'x', assertions: [{ type: 'script', value: 'evals/x.sh' }] },
      "'2' names evals/x.sh",
      8,
    ],
    ['an identifier that occurs twice', { id: 'first', prompt: 'x' }, "'first' occurs twice", 8],
    [
      'more than 100 checks',
      { prompt: 'x', assertions: Array.from({ length: 101 }, () => 'is good') },
      'has more than 100 entries',
      10,
    ],
    [
      'a time limit of a day',
      { prompt: 'x', timeout_seconds: 86_400 },
      'evals.1.timeout_seconds: must be 3600 or less.',
      10,
    ],
  ])('are refused with the line for %s, without the other cases', (_, broken, message, line) => {
    const { cases, problems } = readJson({ id: 'first', prompt: 'Fine.' }, broken)
    expect(cases.map(({ id }) => id)).toEqual(['first'])
    expect(problems).toMatchObject([{ path: 'evals/evals.json', line, message: expect.stringContaining(message) }])
  })

  it.each<[string, string[], string]>([
    ['two files in one place', ['a.txt', 'evals/files/a.txt'], 'a.txt: The path equals'],
    ['two that differ in case only', ['evals/A.txt', 'evals/files/a.TXT'], 'The path equals'],
    ['a file in place of a folder', ['evals/a', 'evals/files/a/b'], 'a: The path is also the folder'],
    ['a file in the place of the skill', ['evals/files/.agents/skills/csv/SKILL.md'], 'Runs have the skill there'],
    ['a file in place of the folder of skills', ['evals/.Claude'], 'Runs have the skill there'],
    ['a device of Windows', ['evals/files/aux.txt'], 'aux.txt: The path contains a device name'],
  ])('are refused for %s of a run', (_, files, message) => {
    const { cases, problems } = read({
      ...Object.fromEntries(files.map((path) => [path, 'x'])),
      'evals/evals.json': json({ prompt: 'x', files }),
    })
    expect(cases).toEqual([])
    expect(problems).toMatchObject([{ path: 'evals/evals.json', line: 4, message: expect.stringContaining(message) }])
  })

  it('may name a file twice in a case', () => {
    const { problems } = read({
      'evals/a.txt': 'x',
      'evals/evals.json': json({ prompt: 'x', files: ['evals/a.txt', './evals/a.txt'] }),
    })
    expect(problems).toEqual([])
  })

  it.each<[string, string, string, number | undefined]>([
    ['is no JSON', '{\n  "evals": [\n    {,}\n  ]\n}', 'is not JSON', 3],
    ['is empty', '', 'is not JSON', undefined],
    ['is a list', '[]', 'evals: is missing.', 1],
    ['has no list', '{ "evals": {} }', 'evals: must be a list.', 1],
    ['has a key twice', '{ "evals": [], "evals": [] }', 'occurs twice', undefined],
    ['nests 200 levels deep', `{"evals":${'['.repeat(200)}${']'.repeat(200)}}`, 'nests deeper', undefined],
    [
      'has more than 1,000 cases',
      JSON.stringify({ evals: Array.from({ length: 1001 }, () => 1) }),
      'more than 1000 cases',
      1,
    ],
    ['is larger than 1 MiB', ' '.repeat(1024 * 1024 + 1), 'larger than 1024 KiB', undefined],
  ])('are refused if the document %s', (_, text, message, line) => {
    const { cases, problems } = read({ 'evals/evals.json': text })
    expect(cases).toEqual([])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ path: 'evals/evals.json', message: expect.stringContaining(message) })
    expect(problems[0]!.line).toBe(line)
  })

  it('are refused in another encoding than UTF-8, and in a file that could not be read', () => {
    const path = 'evals/evals.json'
    const utf16 = Buffer.from('\ufeff{"evals":[]}', 'utf16le')
    expect(readEvalCases([{ path, bytes: utf16 }]).problems).toMatchObject([
      { path, message: expect.stringMatching(/UTF-8/) },
    ])
    expect(readEvalCases([{ path }]).problems).toMatchObject([
      { path, message: expect.stringMatching(/cannot be read/) },
    ])
  })
})

describe('case folders of claude plugin eval', () => {
  it('are read from prompt.md and graders', () => {
    const { cases, problems } = read({
      'evals/chart/prompt.md':
        '---\nmax_turns: 5\ntimeout_seconds: 60\nallowed_tools: [Read]\nenv: { EVAL_MODE: fast }\n---\n\nChart it.\n',
      'evals/chart/graders/made.md': '---\ntype: file_exists\npath: "*.png"\n---\n',
      'evals/chart/graders/never.md':
        '---\n{type: regex, target: last_message, pattern: sorry, flags: i, match: not_contains}\n---\n',
      'evals/chart/graders/rubric.md':
        '---\ntype: llm\nweight: 2\n---\nPASS if both axes have labels.\nFAIL if one has none.\n',
      'evals/chart/graders/used.md': '---\ntype: tool_used\ntool: Skill\narm: with-only\nmin: 1\n---\n',
      'evals/results/old/prompt.md': 'A result, and no case.',
    })
    expect(problems).toEqual([])
    expect(cases).toEqual([
      {
        id: 'chart',
        prompt: 'Chart it.',
        files: [],
        env: { EVAL_MODE: 'fast' },
        timeoutSeconds: 60,
        checks: [
          { name: 'made', kind: 'file_exists', pattern: '*.png', exists: true },
          { name: 'never', kind: 'regex', pattern: 'sorry', flags: 'i', count: 0, target: 'last_message' },
          {
            name: 'rubric',
            kind: 'text',
            text: 'PASS if both axes have labels.\nFAIL if one has none.',
            target: 'last_message',
          },
          { name: 'used', kind: 'unseen', reason: expect.stringContaining('trace') },
        ],
      },
    ])
  })

  it('are read from case.yaml, at any depth, with the scaffold script of the case', () => {
    const yaml = `schema_version: "1.1"
name: commit
context:
  scaffold_script: setup/make.sh
execution:
  prompt: Commit it.
  max_turns: 20
graders:
  - { type: regex, name: form, pattern: '^feat', flags: m, match: 'count:2', target: { source: file, path: .git/COMMIT_EDITMSG } }
  - { type: regex, name: traced, pattern: x, target: trace }
  - { type: regex, name: only with, pattern: x, arm: with-only }
  - { type: tool_order, before: Read, after: { tool: Edit, input_match: x } }
  - { type: baseline, baseline_file: reference.jsonl, criteria: as good }
`
    const { cases, problems } = read({ 'evals/git/commit/case.yaml': yaml, 'evals/git/commit/setup/make.sh': 'true' })
    expect(problems).toEqual([])
    expect(cases).toMatchObject([
      {
        id: 'git/commit',
        prompt: 'Commit it.',
        scaffold: 'evals/git/commit/setup/make.sh',
        checks: [
          { name: 'form', kind: 'regex', count: 2, target: { file: '.git/COMMIT_EDITMSG' } },
          { name: 'traced', kind: 'unseen' },
          { name: 'only with', kind: 'unseen', reason: expect.stringContaining('bias') },
          { name: 'grader 4', kind: 'unseen' },
          { name: 'grader 5', kind: 'unseen' },
        ],
      },
    ])
  })

  it('are read from prompt.md and case.yaml together', () => {
    const { cases } = read({
      'evals/both/prompt.md': 'Asked here.',
      'evals/both/case.yaml':
        'execution: { prompt: Not asked, timeout_seconds: 9 }\ngraders: [{ type: file_exists, path: a }]',
      'evals/both/graders/b.md': '---\ntype: file_exists\npath: b\nexists: false\n---',
    })
    expect(cases).toMatchObject([
      {
        prompt: 'Asked here.',
        timeoutSeconds: 9,
        checks: [
          { pattern: 'a', exists: true },
          { pattern: 'b', exists: false },
        ],
      },
    ])
  })

  const prompt = { 'evals/x/prompt.md': 'Do it.' }
  const grader = { 'evals/x/graders/a.md': '---\ntype: file_exists\npath: a\n---' }
  it.each<[string, Record<string, string>, { path: string; line?: number; message: string }]>([
    ['no grader', prompt, { path: 'evals/x/prompt.md', line: 1, message: 'no grader' }],
    [
      'no prompt',
      { 'evals/x/prompt.md': '---\nmax_turns: 3\n---\n', ...grader },
      { path: 'evals/x/prompt.md', line: 1, message: 'no prompt' },
    ],
    [
      'a kind that is unknown',
      { ...prompt, 'evals/x/graders/a.md': '---\n# why\ntype: vibe\n---' },
      { path: 'evals/x/graders/a.md', line: 3, message: 'type: must be one of' },
    ],
    [
      'a file outside of the run',
      {
        ...prompt,
        'evals/x/graders/a.md':
          '---\ntype: regex\npattern: root\ntarget: { source: file, path: ../../etc/passwd }\n---',
      },
      { path: 'evals/x/graders/a.md', line: 4, message: 'below the folder' },
    ],
    [
      'a scaffold outside of its case',
      { 'evals/x/case.yaml': 'context:\n  scaffold_script: ../../run.sh\n' },
      { path: 'evals/x/case.yaml', line: 2, message: 'leads out of its folder' },
    ],
    [
      'a scaffold that does not exist',
      {
        'evals/x/case.yaml':
          'context: { scaffold_script: run.sh }\nexecution: { prompt: x }\ngraders: [{ type: file_exists, path: a }]',
      },
      { path: 'evals/x/case.yaml', message: 'names evals/x/run.sh' },
    ],
    [
      'a variable that changes programs',
      { 'evals/x/prompt.md': '---\nenv:\n  LD_PRELOAD: ./x.so\n---\nDo it.', ...grader },
      { path: 'evals/x/prompt.md', line: 3, message: 'Begin its name with EVAL_' },
    ],
    [
      'invalid YAML',
      { 'evals/x/case.yaml': 'execution:\n  prompt: "x\n' },
      { path: 'evals/x/case.yaml', line: 3, message: 'not valid YAML' },
    ],
    [
      'aliases that multiply',
      {
        'evals/x/case.yaml': `a: &a [1,2,3,4,5,6,7,8,9]\n${[...'bcdefgh'].map((key, i) => `${key}: &${key} [${Array.from({ length: 9 }, () => `*${'abcdefg'[i]}`).join(',')}]`).join('\n')}`,
      },
      { path: 'evals/x/case.yaml', line: 1, message: 'too many values or aliases' },
    ],
    [
      'a rubric that is missing',
      { ...prompt, 'evals/x/graders/a.md': '---\ntype: llm\n---\n' },
      { path: 'evals/x/graders/a.md', line: 2, message: 'no rubric' },
    ],
    [
      'frontmatter without an end',
      { ...prompt, 'evals/x/graders/a.md': '---\ntype: llm\n' },
      { path: 'evals/x/graders/a.md', line: 2, message: 'closing line' },
    ],
  ])('are refused with file and line for %s', (_, texts, { message, ...place }) => {
    const { cases, problems } = read({
      ...texts,
      'evals/fine/prompt.md': 'Fine.',
      'evals/fine/graders/a.md': grader['evals/x/graders/a.md'],
    })
    expect(cases.map(({ id }) => id)).toEqual(['fine'])
    expect(problems).toMatchObject([{ ...place, message: expect.stringContaining(message) }])
  })

  it('are an empty list for a skill without cases', () => {
    expect(read({ 'evals/README.md': 'Notes.', 'docs/prompt.md': 'No case.' })).toEqual({ cases: [], problems: [] })
  })
})
