import { engineRules } from './engine-rules.ts'
import type { CodeRule } from './code-rule.ts'
import type { Fact, Rule } from '../match/rule.ts'
import { codeRules as ofFacts } from './code-facts.ts'
import { codeRules as ofFlows } from './code-flows.ts'
import { combinations, facts, rules } from './text-rules.ts'

export const codeRules: readonly CodeRule[] = [...ofFlows, ...ofFacts]

/** What is searched for. */
export const probes: readonly (Rule | Fact)[] = [...rules, ...facts]

/** Everything that has findings: rules, combinations and checks of the engine. */
export const allRules: readonly Omit<Rule, 'patterns'>[] = [
  ...rules,
  ...combinations,
  ...codeRules,
  ...Object.values(engineRules),
]
