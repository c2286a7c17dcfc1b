import type { LoadedSkill } from './loading.ts'

/** How much of a skill is loaded, from little to all (specification 2.4). Each level has the parts of the one before it. */
export const loadLevels = ['metadata', 'contract', 'summary', 'full'] as const
export type LoadLevel = (typeof loadLevels)[number]

/** The lowest level that has a part. The others are at every level; `frontmatter` is whole at `full` alone. */
const firstLevels = {
  contract: 'contract',
  capabilities: 'contract',
  toolDefinition: 'contract',
  summary: 'summary',
  fullContent: 'full',
} as const satisfies Partial<Record<keyof LoadedSkill, LoadLevel>>

/**
 * A loaded skill at a lower level, without asking for it again; the same one at its own level. Throws a TypeError for a
 * level above its own, for one that does not exist, and for a skill that lost parts to a budget.
 *
 * @example
 * projectLevel(await api.loadSkill({ name: 'alice/pdf' }), 'summary')
 */
export function projectLevel(loaded: LoadedSkill, level: LoadLevel): LoadedSkill {
  if (level === loaded.level) return loaded
  if (!loadLevels.includes(level)) throw new TypeError(`There is no level '${level}'.`)
  if (!includesLevel(loaded.level, level)) {
    throw new TypeError(`A skill loaded at level '${loaded.level}' does not hold level '${level}'; load it again.`)
  }
  if (loaded.truncated.length > 0) {
    throw new TypeError('A truncated skill does not hold all of its lower levels; load it again.')
  }
  const parts = Object.entries({ ...loaded, level, frontmatter: toNamed(loaded.frontmatter) })
  return Object.fromEntries(parts.filter(([part]) => hasPart(level, part))) as LoadedSkill
}

/** Whether the first level has all that the second has. */
export function includesLevel(level: LoadLevel, lower: LoadLevel): boolean {
  return loadLevels.indexOf(level) >= loadLevels.indexOf(lower)
}

/** Of frontmatter, what is shown below `full`: its name and description, as far as it has them. */
export function toNamed({ name, description }: Record<string, unknown>): Record<string, unknown> {
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
}

function hasPart(level: LoadLevel, part: string): boolean {
  return !(part in firstLevels) || includesLevel(level, firstLevels[part as keyof typeof firstLevels])
}
