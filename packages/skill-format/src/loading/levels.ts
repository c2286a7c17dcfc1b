import { loadLevels, type LoadedSkill, type LoadLevel, type LoadedMetadata } from '@skillstead/protocol'
import type { SkillContract } from '../skill-md/contract.ts'
import { toToolDefinition } from './tools.ts'

/** The lowest level with each part. Other parts are at every level; `frontmatter` is complete only at `full`. */
const firstLevels: Partial<Record<string, LoadLevel>> = {
  contract: 'contract',
  capabilities: 'contract',
  toolDefinition: 'contract',
  summary: 'summary',
  fullContent: 'full',
} satisfies Partial<Record<keyof LoadedSkill, LoadLevel>>

/**
 * Reduces a loaded skill to a lower level without another request. Throws a TypeError for a level above the skill's,
 * for an unknown level, and for a skill that was truncated to a budget.
 *
 * @example
 * projectLevel(await api.loadSkill({ name: 'alice/pdf' }), 'summary')
 */
export function projectLevel(loaded: LoadedSkill, level: LoadLevel): LoadedSkill {
  if (level === loaded.level) return loaded
  if (!loadLevels.includes(level))
    throw new TypeError(`Unknown level '${level}'. Use metadata, contract, summary or full.`)
  if (!includesLevel(loaded.level, level)) {
    throw new TypeError(
      `The skill was loaded at the lower level '${loaded.level}'. Load it with \`level: '${level}'\`.`,
    )
  }
  if (loaded.truncated.length > 0) {
    throw new TypeError(
      `The skill was truncated, so parts of the level '${level}' may be missing. Load it with \`level: '${level}'\`.`,
    )
  }
  const parts = Object.entries({ ...loaded, level, frontmatter: toNamed(loaded.frontmatter) })
  return Object.fromEntries(parts.filter(([part]) => hasPart(level, part))) as LoadedSkill
}

/** Whether the first level includes the second. */
export function includesLevel(level: LoadLevel, lower: LoadLevel): boolean {
  return loadLevels.indexOf(level) >= loadLevels.indexOf(lower)
}

/** The frontmatter that is sent below `full`: name and description, if present. */
function toNamed({ name, description }: Record<string, unknown>): Record<string, unknown> {
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
}

function hasPart(level: LoadLevel, part: string): boolean {
  return includesLevel(level, firstLevels[part] ?? 'metadata')
}

/** The parts of a version from which each level is composed. */
export interface SkillParts {
  readonly metadata: LoadedMetadata
  readonly frontmatter: Record<string, unknown>
  readonly contract: SkillContract | null
  readonly capabilities: readonly string[]
  readonly summary: string
  /** The whole SKILL.md; required only for the level `full`. */
  readonly fullContent?: string
}

/** Composes a skill at a level. Throws a TypeError for the level `full` without the document. */
export function composeSkill(parts: SkillParts, level: LoadLevel): LoadedSkill {
  const { metadata, contract, summary, fullContent, frontmatter } = parts
  const isFull = level === 'full'
  if (isFull && fullContent === undefined) throw new TypeError('The level `full` requires `fullContent`.')
  const { name, fullName, description } = metadata
  const hasContract = includesLevel(level, 'contract')
  return {
    level,
    metadata,
    ...(hasContract && { contract, capabilities: [...parts.capabilities] }),
    ...(includesLevel(level, 'summary') && { summary }),
    ...(isFull && { fullContent }),
    ...(hasContract && { toolDefinition: toToolDefinition({ name, fullName, description, contract }) }),
    frontmatter: isFull ? frontmatter : toNamed(frontmatter),
    truncated: [],
  }
}
