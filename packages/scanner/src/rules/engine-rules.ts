import { toRecord } from '@skillstead/protocol'
import type { RuleHead } from './load-rules.ts'
import { allRules } from './rule-table.ts'

const ids = [
  ...(['tag-characters', 'zero-width-run', 'bidi-control', 'padding', 'disguised-executable'] as const),
  ...(['executable-file', 'disguised-file', 'encrypted-archive', 'bytecode-without-source'] as const),
  ...(['program-in-document', 'git-folder', 'tools-undeclared', 'tools-unused', 'incomplete-scan'] as const),
]
export type EngineRuleId = (typeof ids)[number]

/** Rules that the engine checks itself, by the form of texts and bytes instead of patterns. */
export const engineRules: Readonly<Record<EngineRuleId, RuleHead>> = toRecord(ids, (id) =>
  allRules.find((rule) => rule.id === id)!,
)
