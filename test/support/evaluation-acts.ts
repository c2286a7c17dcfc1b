import type { EvaluationResult } from '@skillstead/protocol'
import { skillMd } from './answers.ts'
import type { TestUser } from './harness.ts'

/** A time on the day before that of the tests' clock. */
export const ranAt = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString()

/** A result of an evaluation, as a user posts it. */
export const result = (more: Partial<EvaluationResult> = {}): EvaluationResult => ({
  runner: 'skillstead eval 1.0.0',
  model: 'model-a',
  ranAt: ranAt(0),
  cases: 20,
  withSkill: { runs: 100, passed: 90 },
  withoutSkill: { runs: 100, passed: 50 },
  ...more,
})

/** A result of which so many of 100 runs passed with the skill. */
export const passed = (count: number, more: Partial<EvaluationResult> = {}) =>
  result({ withSkill: { runs: 100, passed: count }, ...more })

/** Publishes a version with content of its own. */
export async function publish(user: Pick<TestUser, 'api'>, name: string, version: string, more = {}) {
  const md = skillMd(name.split('/').at(-1)!, { body: `# Release ${version}\n\nSteps to follow.\n` })
  return (await user.api.publishSkill({ skillMd: md, version, ...(name.includes('/') && { name }), ...more })).version
}

/** Posts the result of a user for a version, with the version's digest. */
export async function post(user: Pick<TestUser, 'api'>, name: string, version: string, given = result()) {
  const { digest } = await user.api.getVersion({ name, version })
  return user.api.createEvaluation({ name, version, digest, ...given })
}
