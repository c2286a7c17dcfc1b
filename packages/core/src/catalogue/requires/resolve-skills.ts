import { type RegistryError, type Resolution } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import { invalidField } from '../../kernel/field-errors.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Choosable, listReached, lookUpWanted } from './look-up.ts'
import { type Choice, type Edge, solve, toConflict } from './solver.ts'

/**
 * POST /resolve: versions of skills and of everything that they require, in the order of their installation. Throws
 * `conflict` for requirements that exclude each other, cycles, and required skills that do not exist or that the caller
 * may not see.
 */
export const resolveSkills: Operation<'resolveSkills', StorageContext> = async (context, { skills }, caller) => {
  const roots = skills.map(({ name, range: text }, i) => {
    if (text === undefined || text === 'latest') return { name }
    const range = parseVersionRange(text)
    if (range) return { name, range }
    throw invalidField(`skills[${i}].range`, 'must be a range such as ^1.2.0, ~1.2.0, >=1.0.0 or 1.2.3')
  })
  const { choices, edges } = await solve(roots, createLookUp(context, caller))
  const missing = edges.filter(({ skill }) => skill === null)
  return {
    skills: sortForInstall(choices).map(({ skill, version, edges: own }) => ({
      fullName: skill.fullName,
      version: version.version,
      digest: version.digest,
      requiredBy: own.flatMap(toRequirer),
      requires: version.requires,
    })),
    missing: missing.flatMap((edge) => toRequirer(edge).map((requiredBy) => ({ name: edge.name, requiredBy }))),
  }
}

/**
 * Returns a function that looks up names. Its first call also looks up all names that the latest versions of the found
 * skills lead to, so that a deep resolution needs few queries.
 */
function createLookUp(context: StorageContext, caller: Caller) {
  let isFirst = true
  return async (wanted: readonly string[]): Promise<Map<string, Choosable>> => {
    const found = await lookUpWanted(context, wanted, caller)
    if (!isFirst) return found
    isFirst = false
    const requiring = [...found.values()].filter(({ versions }) =>
      versions.some(({ requires }) => requires.skills.length > 0),
    )
    const reached = await listReached(context, new Set(requiring.map(({ id }) => id)))
    const more = await lookUpWanted(context, reached, caller)
    return new Map([...more, ...found])
  }
}

function toRequirer({ from, range }: Edge): Resolution['skills'][number]['requiredBy'] {
  if (!from) return []
  return [{ fullName: from.skill.fullName, version: from.version.version, range: range?.text ?? '*' }]
}

/** Sorts choices so that each follows the choices that it requires. Throws `conflict` with the skills of a cycle. */
function sortForInstall(choices: readonly Choice[]): Choice[] {
  const requirers = new Map(
    choices.map((choice) => [choice.skill, choice.edges.flatMap(({ from }) => from?.skill ?? [])]),
  )
  const open = new Map(choices.map(({ skill }) => [skill, 0]))
  for (const skills of requirers.values()) for (const skill of skills) open.set(skill, open.get(skill)! + 1)
  const byId = new Map(choices.map((choice) => [choice.skill, choice]))
  const sorted = choices.filter(({ skill }) => open.get(skill) === 0)
  for (const { skill } of sorted) {
    for (const requirer of requirers.get(skill)!) {
      open.set(requirer, open.get(requirer)! - 1)
      if (open.get(requirer) === 0) sorted.push(byId.get(requirer)!)
    }
  }
  if (sorted.length < choices.length) throw toCycle(choices.filter((choice) => !sorted.includes(choice)))
  return sorted
}

/** The error for a cycle. Each given choice requires another given choice, so that following them leads to a cycle. */
function toCycle(choices: readonly Choice[]): RegistryError {
  const inside = new Map(choices.map((choice) => [choice.skill, choice]))
  const requiredBy = new Map<Choice, Choice>()
  for (const choice of choices) {
    for (const { from } of choice.edges) {
      const requirer = from && inside.get(from.skill)
      if (requirer && !requiredBy.has(requirer)) requiredBy.set(requirer, choice)
    }
  }
  const walked: Choice[] = []
  for (let at = choices[0]!; !walked.includes(at); at = requiredBy.get(at)!) walked.push(at)
  const cycle = walked.slice(walked.indexOf(requiredBy.get(walked.at(-1)!)!))
  const names = [...cycle, cycle[0]!].map(({ skill, version }) => `${skill.fullName} ${version.version}`)
  const shown = names.length > 10 ? [...names.slice(0, 6), `${names.length - 8} more`, ...names.slice(-2)] : names
  const advice = 'Skills cannot require each other in a circle: one of their authors has to remove a requirement.'
  return toConflict(`${shown.join(' → ')} is a cycle. ${advice}`)
}
