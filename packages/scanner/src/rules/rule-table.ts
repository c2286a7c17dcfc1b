import { builtInDocuments } from './built-in.ts'
import { loadRules } from './load-rules.ts'
import type { Parts } from './rule-document.ts'

/** The named parts of expressions. */
export const builtInParts: Parts = Object.assign({}, ...builtInDocuments.map(({ parts }) => parts))

export const builtIn = loadRules(builtInDocuments)

/** What the built-in rules report, whatever they match. */
export const allRules = builtIn.heads
/** The built-in rules by what they match. */
export const { rules, facts, codeRules } = builtIn

/** The ids that added rules cannot have. */
export const builtInIds: ReadonlySet<string> = new Set([...allRules, ...facts].map(({ id }) => id))
