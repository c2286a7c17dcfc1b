import type { LoadedMetadata, LoadedSkill, LoadLevel } from '@skillstead/protocol'
import { includesLevel, toNamed } from './levels.ts'
import type { SkillContract } from '../skill-md/contract.ts'
import { toToolDefinition } from './tools.ts'

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
