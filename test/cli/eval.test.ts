import { existsSync, readFileSync } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { skillstead } from '../support/cli-harness.ts'
import { exactCase, findingAgent, makeEvalSkill } from '../support/eval-skill.ts'

describe('skillstead eval', () => {
  it('compares the runs with and without the skill, and names a winner whose interval excludes 0', async () => {
    const skill = await makeEvalSkill([exactCase, { ...exactCase, id: 'again' }])
    const agent = await skill.program('agent', findingAgent('I do not know'))
    const { code, stdout, stderr } = await skill.evaluate(['--agent', agent])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '2 cases, 20 runs of the agent.\n' })
    expect(stdout).toMatch(
      /^answers: 2 cases, 5 runs each\n {2}asked {2}with 5\/5, without 0\/5\n {2}again {2}with 5\/5/,
    )
    expect(stdout).toContain('10/10 passed, 100 % (95 % interval 72 % to 100 %)')
    expect(stdout).toContain('Agents do better with the skill.')
    const report = await skill.report(['--agent', agent])
    expect(report).toMatchObject({
      verdict: 'better',
      withSkill: { runs: 10, passed: 10, broken: 0, unjudged: 0 },
      withoutSkill: { runs: 10, passed: 0 },
      skill: { name: 'answers', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      agent,
      timeoutSeconds: 300,
      environment: { removedVariables: expect.stringContaining('SKILLSTEAD_') },
    })
    expect(report.effect!.low).toBeGreaterThan(0)
    expect(report.runs).toHaveLength(20)
  })

  it.each<[string, string, number, string]>([
    ['no difference is shown, if both sides pass', findingAgent('42'), 0, 'No difference is shown.'],
    ['no difference is shown, if no run passes', '#!/bin/sh\necho 41\n', 0, 'No difference is shown.'],
    [
      'agents do worse, with exit code 1',
      '#!/bin/sh\n[ -d .claude ] && echo 41 || echo 42\n',
      1,
      'Agents do worse with the skill.',
    ],
  ])('reports that %s', async (_, text, code, sentence) => {
    const skill = await makeEvalSkill([exactCase])
    const finished = await skill.evaluate(['--agent', await skill.program('agent', text)])
    expect(finished.stdout).toContain(sentence)
    expect(finished.code).toBe(code)
  })

  it('names no winner after one run, however clear the result looks', async () => {
    const skill = await makeEvalSkill([exactCase])
    const report = await skill.report(['--runs', '1', '--agent', await skill.program('agent', findingAgent('no'))])
    expect(report).toMatchObject({ verdict: 'none', withSkill: { passed: 1 }, withoutSkill: { passed: 0 } })
  })

  it('gives each run a new folder with the files of its case, without the expected results', async () => {
    const one = {
      ...exactCase,
      files: ['evals/files/data/in.csv', 'notes.txt'],
      assertions: [{ type: 'regex', value: '^seen' }],
    }
    const skill = await makeEvalSkill([one], {
      'evals/files/data/in.csv': '1,2',
      'notes.txt': 'n',
      'scripts/run.sh': '#!/bin/sh\n',
    })
    const agent = await skill.program(
      'agent',
      '#!/bin/sh\nprompt=$(cat)\n[ -e left ] && exit 1\ntouch left\necho "seen $(pwd) $prompt"\nfind . -type f -o -type l | sort\ntest -d .claude && ls -l .claude/skills/answers/scripts\nexit 0\n',
    )
    const report = await skill.report(['--agent', agent, '--runs', '2'])
    const texts = report.runs.map(({ arm, checks }) => ({ arm, text: checks[0]!.evidence }))
    const folders = new Set(texts.map(({ text }) => /seen (\S+)/.exec(text)![1]))
    expect(folders.size).toBe(4)
    for (const folder of folders) expect(existsSync(folder!)).toBe(false)
    for (const { arm, text } of texts) {
      expect(text).toContain('What is the answer?\n\nInput files: data/in.csv, notes.txt')
      expect(text).toContain('./data/in.csv')
      expect(text.includes('./.claude/skills/answers\n'), arm).toBe(arm === 'with')
      expect(text.includes('./.agents/skills/answers/SKILL.md'), arm).toBe(arm === 'with')
      expect(/-rwx.*run\.sh/.test(text), arm).toBe(arm === 'with')
      expect(text).not.toContain('evals')
    }
  })

  it('gives each run a parent folder of its own, so that no run leaves instructions for another', async () => {
    const skill = await makeEvalSkill([exactCase])
    const agent = await skill.program('agent', '#!/bin/sh\n[ -e ../CLAUDE.md ] && echo 42\ntouch ../CLAUDE.md\n')
    const report = await skill.report(['--agent', agent, '--runs', '3', '--parallel', '1'])
    expect(report).toMatchObject({ withSkill: { runs: 3, passed: 0 }, withoutSkill: { runs: 3, passed: 0 } })
  })

  it('passes the prompt unchanged as one argument in place of {prompt}, without a shell', async () => {
    const prompt = '"; touch $(pwd)/../pwned; echo `id` $HOME'
    const skill = await makeEvalSkill([{ prompt, assertions: [{ type: 'exact', value: `[${prompt}] 0` }] }])
    const agent = await skill.program('agent', '#!/bin/sh\nprintf "[%s] %s" "$3" "$(wc -c)"\n')
    const report = await skill.report(['--agent', `'${agent}' "a \\"b\\"" c\\ d {prompt}`, '--runs', '1'])
    expect(report.withSkill).toMatchObject({ passed: 1 })
  })

  it('passes environment variables of the case and of the user to agents, but no registry keys or CI tokens', async () => {
    const prompt = '---\nenv: { EVAL_MODE: fast }\n---\nPrint the environment.'
    const grader = '---\ntype: regex\npattern: .\n---\n'
    const skill = await makeEvalSkill([], { 'evals/env/prompt.md': prompt, 'evals/env/graders/any.md': grader })
    const agent = await skill.program('agent', '#!/bin/sh\nenv | grep -E "^(EVAL_|MODEL_KEY)|secret-" | sort\n')
    const env = {
      SKILLSTEAD_KEY: 'secret-1',
      DATABASE_URL: 'postgres://secret-2',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret-3',
      ACTIONS_RUNTIME_TOKEN: 'secret-4',
      GITHUB_TOKEN: 'secret-5',
      OTHER_ID_TOKEN: 'secret-6',
      CI_JOB_TOKEN: 'secret-7',
      MODEL_KEY: 'kept',
    }
    const { runs } = await skill.report(['--agent', agent, '--runs', '1'], { env })
    expect(runs[0]!.checks[0]!.evidence).toMatch(/EVAL_MODE=fast\nMODEL_KEY=kept$/)
    expect(JSON.stringify(runs)).not.toContain('secret-')
  })

  it('reads the last message and the tokens of agents that print JSON', async () => {
    const claude = [
      { type: 'assistant', message: { content: [{ type: 'text', text: 'Let me see.' }] } },
      { type: 'result', result: '42', usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100 } },
    ]
    const codex = [
      { type: 'item.completed', item: { type: 'agent_message', text: 'Let me see.' } },
      { type: 'turn.completed', usage: { input_tokens: 50, cached_input_tokens: 40, output_tokens: 5 } },
      { type: 'item.completed', item: { type: 'agent_message', text: '42' } },
      { type: 'turn.completed', usage: { input_tokens: 55, output_tokens: 5 } },
    ]
    for (const events of [claude, codex]) {
      const skill = await makeEvalSkill([exactCase])
      const lines = events.map((event) => JSON.stringify(event)).join('\n')
      const agent = await skill.program('agent', `#!/bin/sh\ncat > /dev/null\ncat << 'END'\n${lines}\nEND\n`)
      const report = await skill.report(['--agent', agent, '--runs', '2'])
      expect(report.withSkill).toMatchObject({ passed: 2, tokens: 230 })
    }
  })

  it('reports no tokens of an agent whose JSON has none', async () => {
    const skill = await makeEvalSkill([exactCase])
    const lines = '{"type":"item.completed","item":{"type":"agent_message","text":"42"}}\n{"type":"turn.completed"}'
    const agent = await skill.program('agent', `#!/bin/sh\ncat > /dev/null\ncat << 'END'\n${lines}\nEND\n`)
    const { withSkill } = await skill.report(['--agent', agent, '--runs', '1'])
    expect(withSkill.passed).toBe(1)
    expect(withSkill).not.toHaveProperty('tokens')
  })

  it.each<[string, string[], number, RegExp]>([
    ['without an agent', [], 2, /The agent is missing/],
    [
      'with an agent that does not exist',
      ['--agent', 'skillstead-no-such-agent'],
      1,
      /'skillstead-no-such-agent' cannot be started \(ENOENT\)/,
    ],
    ['with an open quote', ['--agent', "echo 'x"], 2, /--agent has an open quote, or ends with a backslash: 'x/],
    ['with an empty agent', ['--agent', ' '], 2, /--agent names no command/],
    ['with no runs', ['--agent', 'true', '--runs', '0'], 2, /'0' is not a number of runs/],
    ['with a time limit of a day', ['--agent', 'true', '--timeout', '86400'], 2, /time limit in seconds/],
    ['with a result for no version', ['--agent', 'true', '--post', 'alice/answers'], 2, /names no version/],
    [
      'with a result for an invalid model',
      ['--agent', 'true', '--model', 'a  b', '--post', 'alice/answers@1.0.0'],
      2,
      /'a b' is not a valid model name/,
    ],
    ['with a result without a model', ['--agent', 'true', '--post', 'alice/answers@1.0.0'], 2, /Pass --model/],
  ])('fails with an error message if it runs %s', async (_, args, code, message) => {
    const skill = await makeEvalSkill([exactCase])
    const finished = await skill.evaluate(args)
    expect(finished.stderr).toMatch(message)
    expect(finished).toMatchObject({ code, stdout: '' })
  })

  it('refuses to write its journal into the folder of the skill', async () => {
    const skill = await makeEvalSkill([exactCase])
    for (const out of [skill.folder, join(skill.folder, 'evals/out')]) {
      const { code, stderr } = await skill.evaluate(['--agent', 'true', '--out', out])
      expect(stderr).toContain('--out is in the folder of the skill')
      expect({ code, files: await readdir(skill.folder) }).toEqual({ code: 2, files: ['SKILL.md', 'evals'] })
    }
  })

  it('does not run faulty cases, and names each fault with file and line', async () => {
    const skill = await makeEvalSkill([exactCase], { 'evals/x/prompt.md': 'Do it.' })
    const { code, stderr } = await skill.evaluate(['--agent', 'true'])
    expect(code).toBe(1)
    expect(stderr).toContain('evals/x/prompt.md:1: The case has no grader.')
    const none = await makeEvalSkill([])
    expect((await none.evaluate(['--agent', 'true'])).stderr).toContain('has no cases. Write evals/evals.json')
    expect((await skillstead(['eval', join(none.folder, 'nowhere'), '--agent', 'true'])).stderr).toContain(
      'does not exist',
    )
  })

  it('warns if the skill is installed for the account of the user', async () => {
    const skill = await makeEvalSkill([exactCase], { 'home/.claude/skills/answers/SKILL.txt': 'x' })
    const env = { HOME: join(skill.folder, 'home'), CLAUDE_CONFIG_DIR: join(skill.folder, 'home/.claude') }
    const { stderr } = await skill.evaluate(['--agent', 'true', '--runs', '1'], { env })
    expect(stderr).toMatch(/Warning: .*\.claude\/skills\/answers is installed for your account/)
  })

  it('shows a progress bar on a terminal', async () => {
    const skill = await makeEvalSkill([exactCase])
    const args = ['--agent', await skill.program('agent', findingAgent('no')), '--runs', '2']
    expect((await skill.evaluate(args, { isTerminal: true })).stderr).toContain('4/4 runs | with 2, without 0 passed')
  })

  it('writes reports as Markdown and JUnit, in which text of an agent is never markup', async () => {
    const hostile = ']]></failure><b a="&">\\u0007\\u001b[31m | `x` ![i](http://x)'
    const skill = await makeEvalSkill([{ ...exactCase, id: 'a|<b>&"`\u0007' }])
    const agent = await skill.program('agent', `#!/bin/sh\nprintf '%b' '${hostile}'\n`)
    const [junit, markdown] = ['junit.xml', 'report.md'].map((name) => join(skill.folder, '..', name))
    await skill.evaluate(['--agent', agent, '--runs', '1', '--junit', junit!, '--markdown', markdown!])
    const xml = readFileSync(junit!, 'utf8')
    expect(xml).toContain('<testsuite name="skillstead eval answers" tests="1" failures="1" skipped="0"')
    expect(xml).toContain('<testcase classname="answers" name="a|&lt;b&gt;&amp;&quot;`\ufffd (run 1)"')
    expect(xml).toContain('exact 42: ]]&gt;&lt;/failure&gt;&lt;b a=&quot;&amp;&quot;&gt;')
    // oxlint-disable-next-line no-control-regex
    expect(xml).not.toMatch(/[\0-\x08\x0b-\x1f]/)
    expect(xml.match(/<\w+/g)!.length).toBe(xml.match(/<\/\w+|\/>/g)!.length)
    const text = readFileSync(markdown!, 'utf8')
    expect(text).toContain('| `` a¦<b>&"` `` | 0/1 | 0/1 |')
    expect(text).toContain('No difference is shown.')
  })

  it('writes the output of an agent into Markdown as code, so that URLs and @names are not links', async () => {
    const skill = await makeEvalSkill([exactCase])
    const hostile = 'see https://evil.example www.evil.example @octocat \\| ``` <img>'
    const agent = await skill.program('agent', `#!/bin/sh\nprintf '%s' '${hostile}' >&2\nexit 1\n`)
    const markdown = join(skill.folder, '../report.md')
    await skill.evaluate(['--agent', agent, '--runs', '1', '--markdown', markdown])
    const note = readFileSync(markdown, 'utf8')
      .split('\n')
      .find((line) => line.includes('@octocat'))!
    expect(note).toMatch(/^- (`{4}) 2 runs of the agent failed.*@octocat \\¦ ``` <img> \1$/)
  })

  it('stores journal and transcripts for the user alone, next to the skill; the report omits the standard error of agents', async () => {
    const skill = await makeEvalSkill([exactCase])
    const agent = await skill.program('agent', '#!/bin/sh\ncat\necho private >&2\n')
    const { folder, runs } = await skill.report(['--agent', agent, '--runs', '1'])
    expect(folder.startsWith(`${skill.folder}-workspace/`)).toBe(true)
    expect(await readdir(folder)).toEqual(['journal.ndjson', 'report.json', 'transcripts', 'transcripts.sha256'])
    const transcript = JSON.parse(readFileSync(join(folder, 'transcripts/1-with-1.json'), 'utf8')) as object
    const modes = await Promise.all(
      ['', 'journal.ndjson', 'transcripts/1-with-1.json'].map((path) => stat(join(folder, path))),
    )
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600, 0o600])
    expect(transcript).toMatchObject({
      case: 'asked',
      arm: 'with',
      prompt: exactCase.prompt,
      stdout: exactCase.prompt,
      stderr: 'private\n',
    })
    expect(runs[0]!.transcript).toMatch(/^sha256:/)
    expect(JSON.stringify(runs)).not.toContain('private')
  })
})

describe('skillstead lint', () => {
  it('warns of faulty evaluation cases with file and line, and of evaluation results in the folder of the skill', async () => {
    const skill = await makeEvalSkill([{ prompt: 'x', assertions: [{ type: 'vibe', value: 'x' }] }], {
      'evals/x/prompt.md': 'Do it.',
      'evals/results/run.json': '{}',
    })
    const { code, stdout } = await skillstead(['lint', skill.folder])
    expect(stdout).toContain('eval_case: evals/evals.json:1: evals.0.assertions.0.type: must be one of')
    expect(stdout).toContain('eval_case: evals/x/prompt.md:1: The case has no grader.')
    expect(stdout).toContain('eval_results: evals/results has results of runs')
    expect(code).toBe(0)
    await writeFile(join(skill.folder, 'evals/evals.json'), JSON.stringify({ evals: [exactCase] }))
    expect((await skillstead(['lint', skill.folder])).stdout).not.toContain('evals.json')
  })
})
