export type { LoadedMetadata, LoadedSkill, Omission, ToolDefinition } from '@skillstead/protocol'
export { composeSkill, type SkillParts } from './loading/levels.ts'
export { loadLevels, type LoadLevel } from '@skillstead/protocol'
export { includesLevel, projectLevel } from './loading/levels.ts'
export { measureListing, planListing, type ListedSkill, type ListingPlan, type PlanOptions } from './loading/plan.ts'
export type { ToolParameters } from './loading/tools-parameters.ts'
export { toToolNames } from './loading/tools.ts'
export { toTool, toToolDefinition } from './loading/tools.ts'
export type {
  AiTool,
  AnthropicTool,
  GenericTool,
  LangChainTool,
  OpenAIResponsesTool,
  OpenAITool,
} from './loading/tools.ts'
export type { ToolForms, ToolFramework, ToolSource } from './loading/tools.ts'
export { truncate, type TruncateOptions } from './loading/truncate.ts'
