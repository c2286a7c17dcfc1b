import * as v from 'valibot'
import { loadLevels } from '../load-levels.ts'
import { EvaluationSummary } from './evaluation.ts'
import { Count, Version } from './fields.ts'
import { Requires } from './requires.ts'
import { Skill } from './skill.ts'

const { name, fullName, description, author, downloads, securityScore, verified, deprecated } = Skill.entries

const metadata = v.object({
  name,
  fullName,
  version: Version,
  description,
  author,
  downloads,
  securityScore,
  verified,
  deprecated,
  keywords: v.array(v.string()),
  /** Summary of the results of evaluations of the version; absent without results. */
  evaluations: v.optional(EvaluationSummary),
  /** Absent if the version requires nothing. */
  requires: v.optional(Requires),
})

const omission = v.object({ section: v.string(), tokens: Count })

const toolDefinition = v.object({
  name: v.string(),
  description: v.string(),
  /** A JSON Schema of an object. */
  parameters: v.record(v.string(), v.unknown()),
})

/** A skill at the requested level (docs/api.md#a-loaded-skill); parts above the level are absent. */
export const loadedSkill = v.object({
  level: v.picklist(loadLevels),
  metadata,
  contract: v.optional(v.nullable(v.object({ inputs: v.unknown(), outputs: v.unknown() }))),
  capabilities: v.optional(v.array(v.string())),
  summary: v.optional(v.string()),
  fullContent: v.optional(v.string()),
  toolDefinition: v.optional(toolDefinition),
  /** At the level `full` all fields; at lower levels only name and description. */
  frontmatter: v.record(v.string(), v.unknown()),
  truncated: v.array(omission),
})
/** A skill at the requested level. */
export type LoadedSkill = v.InferOutput<typeof loadedSkill>
/** The metadata of a loaded skill. */
export type LoadedMetadata = v.InferOutput<typeof metadata>
/** A section that was left out of a loaded skill to fit the budget, with its approximate number of tokens. */
export type Omission = v.InferOutput<typeof omission>
/** A skill as a tool that a model can call. */
export type ToolDefinition = v.InferOutput<typeof toolDefinition>
