import type { Fact, Rule } from '../match/rule.ts'
import { builtInDocuments } from './built-in.ts'
import { loadRules, type RuleHead } from './load-rules.ts'
import type { Parts } from './rule-document.ts'

/** The named parts of expressions. */
export const builtInParts: Parts = Object.assign({}, ...builtInDocuments.map(({ parts }) => parts))

/** The built-in rules. */
export const { rules, facts, combinations, codeRules, engineRules: checkedByEngine } = loadRules(builtInDocuments)

/** What is searched for. */
export const probes: readonly (Rule | Fact)[] = [...rules, ...facts]

/** Everything that has findings. */
export const allRules: readonly RuleHead[] = [...rules, ...combinations, ...codeRules, ...checkedByEngine]

/** The ids that added rules cannot have. */
export const builtInIds: ReadonlySet<string> = new Set([...allRules, ...facts].map(({ id }) => id))
