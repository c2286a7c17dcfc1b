import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { exactCase, makeEvalSkill, readAppended } from '../support/eval-skill.ts'
import { mainFile } from '../support/cli-harness.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { toChildEnvironment } from '../support/child-environment.ts'

/** The processes of a file with one number a line that still run. */
async function listAlive(file: string): Promise<string[]> {
  const pids = await readAppended(file)
  expect(pids.length).toBeGreaterThan(0)
  const found = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // A process that ended and was not collected is a zombie.
  return pids.filter((_, i) => found[i] !== '' && !/\) Z /.test(found[i]!))
}

/** Waits until the processes have ended, for 5 s. */
async function untilDead(file: string): Promise<void> {
  for (let tries = 0; (await listAlive(file)).length > 0; tries += 1) {
    expect(tries, 'processes still run').toBeLessThan(100)
    await sleep(50)
  }
}

describe('an agent in an evaluation', () => {
  it('that hangs is stopped at the time limit, with all processes that it started', async () => {
    const skill = await makeEvalSkill([exactCase])
    const pids = join(skill.folder, '../pids')
    const script = `#!/bin/sh\ntrap '' TERM INT\necho $$ >> ${pids}\n(trap '' TERM; echo "$(exec sh -c 'echo $PPID')" >> ${pids}; sleep 300) &\nsleep 300 &\necho $! >> ${pids}\necho 42\nwait\nsleep 300\n`
    const report = await skill.report([
      '--agent',
      await skill.program('agent', script),
      '--runs',
      '1',
      '--timeout',
      '1',
    ])
    expect(report.runs).toMatchObject([
      { ending: 'timeout', outcome: 'failed' },
      { ending: 'timeout', outcome: 'failed' },
    ])
    expect(report.withSkill).toMatchObject({ runs: 1, passed: 0, broken: 1 })
    await untilDead(pids)
  })

  it('that forks in a loop leaves nothing running', async () => {
    const skill = await makeEvalSkill([exactCase])
    const pids = join(skill.folder, '../pids')
    // Each of 20 processes starts others until it is stopped: a fork bomb with an end.
    const bomb = `#!/bin/sh\ntrap '' TERM\ni=0\nwhile [ $i -lt 20 ]; do (trap '' TERM; j=0; while [ $j -lt 5 ]; do sleep 300 & echo $! >> ${pids}; j=$((j+1)); done; wait) & i=$((i+1)); done\n`
    const exits = `${bomb}sleep 0.2\necho 42\n`
    const report = await skill.report(['--agent', await skill.program('agent', exits), '--runs', '1'])
    expect(report.withSkill).toMatchObject({ passed: 1 })
    await untilDead(pids)
    const hangs = await skill.report([
      '--agent',
      await skill.program('other', `${bomb}wait\n`),
      '--runs',
      '1',
      '--timeout',
      '1',
    ])
    expect(hangs.runs[0]).toMatchObject({ ending: 'timeout' })
    await untilDead(pids)
  })

  it('whose child leaves the process group and keeps the pipes open does not delay the evaluation', async () => {
    const skill = await makeEvalSkill([exactCase])
    const pids = join(skill.folder, '../pids')
    const script = `#!/bin/sh\nsetsid sh -c 'echo $$ >> ${pids}; exec sleep 20' &\necho 42\n`
    const report = await skill.report(['--agent', await skill.program('agent', script), '--runs', '1'])
    expect(report.withSkill.passed).toBe(1)
    for (const pid of await listAlive(pids)) process.kill(Number(pid), 'SIGKILL')
  })

  it('that prints without an end is stopped at 8 MiB, and no more is stored', async () => {
    const skill = await makeEvalSkill([exactCase])
    const report = await skill.report(['--agent', 'yes 42', '--runs', '1'])
    expect(report.runs).toMatchObject([{ ending: 'output', outcome: 'failed' }, { ending: 'output' }])
    const transcript = JSON.parse(readFileSync(join(report.folder, 'transcripts/1-with-1.json'), 'utf8')) as {
      stdout: string
    }
    expect(transcript.stdout.length).toBe(8 * 1024 * 1024)
  })

  it('that ends after printing more than 8 MiB fails, and its output is not judged', async () => {
    const skill = await makeEvalSkill([{ prompt: 'x', assertions: [{ type: 'contains', value: '4' }] }])
    const agent = await skill.program('agent', '#!/bin/sh\nyes 42 | head -c 8400000\n')
    const report = await skill.report(['--agent', agent, '--runs', '1'])
    expect(report.runs).toMatchObject([{ ending: 'output', outcome: 'failed' }, { ending: 'output' }])
  })

  it('that prints gigabytes on both outputs, and ignores signals, does not fill the memory', async () => {
    const skill = await makeEvalSkill([exactCase])
    const script = "#!/bin/sh\ntrap '' TERM\nyes 42 >&2 &\nwhile :; do yes 42; done\n"
    const agent = await skill.program('agent', script)
    const before = process.memoryUsage().rss
    const report = await skill.report(['--agent', agent, '--runs', '2', '--parallel', '2'])
    expect(report.withSkill.broken).toBe(2)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
  })

  it.each<[string, string]>([
    ['does not read its input', '#!/bin/sh\nexec 0<&-\necho 42\n'],
    ['closes its output early', '#!/bin/sh\necho 42\nexec 1>&- 2>&-\nsleep 0.1\n'],
    ['prints invalid UTF-8', "#!/bin/sh\nprintf '\\377\\376'\n"],
  ])('that %s is no failure of the evaluation', async (_, script) => {
    const prompt = 'x'.repeat(60_000)
    const skill = await makeEvalSkill([{ prompt, assertions: [{ type: 'regex', value: '42|\ufffd' }] }])
    const report = await skill.report(['--agent', await skill.program('agent', script), '--runs', '2'])
    expect(report.withSkill).toMatchObject({ passed: 2, broken: 0 })
  })

  it.each<[string, string, number]>([
    ['an exit code', 'exit 77', 77],
    ['a signal', 'kill -9 $$', 137],
  ])('that ends with %s counts as not passed', async (_, end, code) => {
    const skill = await makeEvalSkill([exactCase])
    const report = await skill.report([
      '--agent',
      await skill.program('agent', `#!/bin/sh\necho 42\n${end}\n`),
      '--runs',
      '1',
    ])
    expect(report.runs[0]).toMatchObject({ ending: 'exit', code, outcome: 'failed' })
  })

  it('may be a Node program', async () => {
    const skill = await makeEvalSkill([exactCase])
    const agent = await skill.program(
      'agent.mjs',
      "import { existsSync } from 'node:fs'\nconsole.log(existsSync('.claude') ? 42 : 41)\n",
    )
    const report = await skill.report(['--agent', `'${process.execPath}' '${agent}'`, '--runs', '1'])
    expect(report).toMatchObject({ withSkill: { passed: 1 }, withoutSkill: { passed: 0 } })
  })
})

describe('an interruption of an evaluation', () => {
  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'by %s stops the agents, and keeps the finished runs',
    async (signal) => {
      const skill = await makeEvalSkill([exactCase])
      const pids = join(skill.folder, '../pids')
      // The first two runs end, others hang.
      const script = `#!/bin/sh\necho $$ >> ${pids}\nif [ $(wc -l < ${pids}) -gt 2 ]; then sleep 300; fi\necho 42\n`
      const args = [
        'eval',
        skill.folder,
        '--agent',
        await skill.program('agent', script),
        '--runs',
        '3',
        '--parallel',
        '1',
      ]
      const child = spawn(process.execPath, ['--conditions=source', mainFile, ...args], { env: toChildEnvironment() })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk))
      while ((await readAppended(pids)).length < 3) await sleep(20)
      child.kill(signal)
      const [code] = await once(child, 'exit')
      expect({ code, said }).toEqual({
        code: 1,
        said: expect.stringContaining('Interrupted after 2 of 6 runs. Run the same command again to continue.'),
      })
      await untilDead(pids)
    },
  )
})
