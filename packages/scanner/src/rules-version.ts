import { createHash } from 'node:crypto'
import { engineRules } from './engine-rules.ts'
import { packageNames } from './rules/popular-packages.ts'
import { codeRules } from './rule-table.ts'
import { combinations, facts, rules } from './text-rules.ts'

/** Raised with every change of the engine that changes a report. */
const engineVersion = '10'

/** Identifies the engine and the rules: versions with a report of another engine or other rules are scanned again. */
export const rulesVersion = `${engineVersion}.${createHash('sha256').update(toJson()).digest('hex').slice(0, 12)}`

function toJson(): string {
  const all = [rules, facts, combinations, codeRules, engineRules, packageNames]
  return JSON.stringify(all, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}
