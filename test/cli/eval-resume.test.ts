import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { toChildEnvironment } from '../support/child-environment.ts'
import { mainFile } from '../support/cli-harness.ts'
import { exactCase, makeEvalSkill, readAppended, type EvalSkill } from '../support/eval-skill.ts'

/** An agent that appends a line to a file when it begins. */
const counting = (file: string) => `#!/bin/sh\necho run >> ${file}\nsleep 0.05\necho 42\n`

/** The same agent, which ends only while no more lines were appended than the number in the file `allowed`. */
const held = (file: string, allowed: string) => `#!/bin/sh
echo run >> ${file}
while [ "$(wc -l < ${file})" -gt "$(cat ${allowed})" ]; do sleep 0.05; done
echo 42
`

/** The lines of the journal that are finished runs. */
function readRuns(out: string): string[] {
  return (existsSync(out) ? readdirSync(out) : []).flatMap((key) => {
    const file = join(out, key, 'journal.ndjson')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return lines.filter((line) => line.includes('"arm"'))
  })
}

function start(skill: EvalSkill, args: readonly string[]) {
  const words = ['--conditions=source', mainFile, 'eval', skill.folder, ...args]
  return spawn(process.execPath, words, { env: toChildEnvironment(), stdio: 'ignore' })
}

describe('an evaluation that was killed', () => {
  it('continues from any point without repeating finished runs', async () => {
    const skill = await makeEvalSkill([exactCase, { ...exactCase, id: 'b' }, { ...exactCase, id: 'c' }])
    const toPath = (name: string) => join(skill.folder, '..', name)
    const [began, allowed, out] = [toPath('began'), toPath('allowed'), toPath('out')]
    const parallel = 2
    const args = [
      '--agent',
      await skill.program('agent', held(began, allowed)),
      '--runs',
      '5',
      '--parallel',
      String(parallel),
      '--out',
      out,
    ]
    // Kills after the start, in the middle and near the end of 30 runs, of which at most `parallel` finish until the kill.
    const points = [0, 1, 7, 16, 22]
    for (const point of points) {
      const begun = (await readAppended(began)).length
      writeFileSync(allowed, `${begun + point - readRuns(out).length + parallel}`)
      const child = start(skill, args)
      const ended = once(child, 'exit')
      while (readRuns(out).length < point || (await readAppended(began)).length === 0) await sleep(5)
      child.kill('SIGKILL')
      await ended
      // The journal knows how many runs are finished now: none of them may begin again.
      const finished = readRuns(out)
      expect(new Set(finished.map(toId)).size).toBe(finished.length)
      expect(finished.length).toBeLessThan(30)
    }
    const finished = readRuns(out)
    writeFileSync(allowed, '1000')
    // Agents of the killed process end by themselves.
    await sleep(200)
    const before = (await readAppended(began)).length
    const report = await skill.report(args)
    expect(report.runs).toHaveLength(30)
    expect(new Set(report.runs.map((run) => JSON.stringify([run.case, run.arm, run.number]))).size).toBe(30)
    expect((await readAppended(began)).length - before).toBe(30 - finished.length)
    expect(readRuns(out).slice(0, finished.length)).toEqual(finished)
    expect((await readAppended(began)).length).toBeLessThanOrEqual(30 + points.length * parallel)
    // Folders of the killed processes are removed.
    const [key] = readdirSync(out)
    const works = readFileSync(join(out, key!, 'journal.ndjson'), 'utf8').matchAll(/^\{"work":"([^"]+)"/gm)
    const left = [...works].map(([, work]) => existsSync(work!))
    expect(left.length).toBeGreaterThanOrEqual(30)
    expect(new Set(left)).toEqual(new Set([false]))
  })

  it('ignores a truncated line of its journal, and repeats the run of that line', async () => {
    const skill = await makeEvalSkill([exactCase])
    const began = join(skill.folder, '../began')
    const args = ['--agent', await skill.program('agent', counting(began)), '--runs', '2', '--parallel', '1']
    const { folder } = await skill.report(args)
    const file = join(folder, 'journal.ndjson')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.slice(0, -20))
    expect((await skill.report(args)).runs).toHaveLength(4)
    expect(await readAppended(began)).toHaveLength(5)
    appendFileSync(file, 'no JSON\n')
    expect((await skill.evaluate(args)).stderr).toMatch(/journal\.ndjson is damaged\. Delete it/)
  })
})

describe('runs of an agent that fails', () => {
  it('are repeated by the same command, which does not repeat successful runs', async () => {
    const skill = await makeEvalSkill([exactCase])
    const [began, login] = [join(skill.folder, '../began'), join(skill.folder, '../login')]
    const agent = `#!/bin/sh\necho run >> ${began}\n[ -d .claude ] || [ -e ${login} ] || exit 3\necho 42\n`
    const args = ['--agent', await skill.program('agent', agent), '--runs', '2', '--parallel', '1']
    expect(await skill.report(args)).toMatchObject({ withSkill: { passed: 2 }, withoutSkill: { broken: 2 } })
    writeFileSync(login, '')
    expect(await skill.report(args)).toMatchObject({ withSkill: { passed: 2 }, withoutSkill: { passed: 2, broken: 0 } })
    expect(await readAppended(began)).toHaveLength(6)
  })

  it('stop the evaluation after 5 failures in a row', async () => {
    const skill = await makeEvalSkill([exactCase])
    const began = join(skill.folder, '../began')
    const agent = await skill.program('agent', `#!/bin/sh\necho run >> ${began}\necho no login >&2\nexit 3\n`)
    const { code, stderr } = await skill.evaluate(['--agent', agent, '--parallel', '1'])
    expect(stderr).toMatch(/Stopped after 5 failed runs in a row\. The last: exit code 3: no login/)
    expect({ code, runs: (await readAppended(began)).length }).toEqual({ code: 1, runs: 5 })
  })
})

describe('an evaluation', () => {
  it('that is finished is not repeated until the skill, a case or a setting changes', async () => {
    const skill = await makeEvalSkill([exactCase])
    const began = join(skill.folder, '../began')
    const agent = await skill.program('agent', counting(began))
    const evaluate = async (...args: string[]) => {
      const before = (await readAppended(began)).length
      const report = await skill.report(['--agent', agent, '--runs', '1', ...args])
      return { ran: (await readAppended(began)).length - before, folder: report.folder, ranAt: report.ranAt }
    }
    const first = await evaluate()
    expect(first.ran).toBe(2)
    expect(await evaluate('--parallel', '1')).toEqual({ ...first, ran: 0 })
    const others = [
      await evaluate('--runs', '2'),
      await evaluate('--timeout', '9'),
      await evaluate('--model', 'other'),
      await evaluate('--allow-scripts'),
    ]
    writeFileSync(join(skill.folder, 'SKILL.md'), '---\nname: answers\ndescription: Knows more.\n---\n\n42.\n')
    others.push(await evaluate())
    writeFileSync(
      join(skill.folder, 'evals/evals.json'),
      JSON.stringify({ evals: [{ ...exactCase, prompt: 'Well?' }] }),
    )
    others.push(await evaluate())
    expect(others.map(({ ran }) => ran)).toEqual([4, 2, 2, 2, 2, 2])
    expect(new Set([first, ...others].map(({ folder }) => folder)).size).toBe(7)
  })

  it('is refused while another process runs it, and is resumed after that process was killed', async () => {
    const skill = await makeEvalSkill([exactCase])
    const began = join(skill.folder, '../began')
    const args = [
      '--agent',
      await skill.program('agent', `#!/bin/sh\necho >> ${began}\nsleep 0.2\necho run >> ${began}\necho 42\n`),
      '--runs',
      '3',
      '--parallel',
      '1',
    ]
    const child = start(skill, args)
    const ended = once(child, 'exit')
    while ((await readAppended(began)).length === 0) await sleep(5)
    expect((await skill.evaluate(args)).stderr).toMatch(
      new RegExp(`Process ${child.pid} seems to run this evaluation\\. Wait until it ends`),
    )
    child.kill('SIGKILL')
    await ended
    expect((await skill.report(args)).runs).toHaveLength(6)
  })
})

function toId(line: string): string {
  const { case: id, arm, number } = JSON.parse(line) as { case: string; arm: string; number: number }
  return JSON.stringify([id, arm, number])
}
