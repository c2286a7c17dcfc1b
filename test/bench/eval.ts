import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { skillsteadJson } from '../support/cli-harness.ts'
import type { Figure } from './figures.ts'
import { median } from './statistics.ts'

const [cases, runs, parallel, agentMs] = [20, 5, 8, 100]

/**
 * Runs 20 cases five times with and without a skill, eight at a time, by an agent that only sleeps for 100 ms: `sleep`
 * itself, because a shell or Node would need more time to start than that. The whole command is compared with the time
 * that the agents alone take at least. The note has what starting them from Node takes in the same turns, which is more
 * on a machine that does other work too.
 */
export async function benchEval(folder: string, turns: number): Promise<Figure[]> {
  const skill = join(folder, 'slow')
  mkdirSync(join(skill, 'evals'), { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: slow\ndescription: Sleeps.\n---\n\nSleep.\n')
  const assertions = [{ type: 'not_contains', value: 'x' }]
  const evals = Array.from({ length: cases }, (_, id) => ({ id, prompt: 'Sleep.', assertions }))
  writeFileSync(join(skill, 'evals/evals.json'), JSON.stringify({ evals }))
  const options = ['--agent', `sleep ${agentMs / 1000}`, '--parallel', String(parallel)]
  const evaluate = async (out: string, count: number) => {
    const startedMs = performance.now()
    const words = ['eval', skill, ...options, '--runs', String(count), '--out', join(folder, out)]
    const { withSkill } = await skillsteadJson<{ withSkill: { passed: number } }>(words)
    if (withSkill.passed !== cases * count) throw new Error(`${withSkill.passed} runs passed.`)
    return performance.now() - startedMs
  }
  await evaluate('warm', 1)
  const times: number[] = []
  const bare: number[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    times.push(await evaluate(`out-${turn}`, runs))
    bare.push(await startAgents())
  }
  const ideal = (cases * runs * 2 * agentMs) / parallel
  const measured = median(times)
  const name = `${cases} cases, ${runs} runs with and without, ${parallel} at a time, by an agent of ${agentMs} ms`
  const note = `${Math.round(measured)} ms; ideal ${ideal} ms; the agents alone ${Math.round(median(bare))} ms`
  console.log(`\n${name}: ${note}`)
  return [{ part: 'skillstead eval', name, value: measured / ideal, unit: '', most: 1.3, note }]
}

async function startAgents(): Promise<number> {
  const startedMs = performance.now()
  let left = cases * runs * 2
  const work = async () => {
    for (; left > 0; await once(spawn('sleep', [String(agentMs / 1000)], { detached: true }), 'close')) left -= 1
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return performance.now() - startedMs
}
