import { createHash } from 'node:crypto'
import { engineRules } from './engine-rules.ts'
import { packageNames } from './popular-packages.ts'
import { codeRules } from './rule-table.ts'
import { combinations, facts, rules } from './text-rules.ts'

/** Raised with every change of the engine that changes a report. */
const engineVersion = '10'

/** Computes `rulesVersion` from the engine and all rules, which takes as long as composing them. */
export function computeRulesVersion(): string {
  const all = [rules, facts, combinations, codeRules, engineRules, packageNames]
  const text = JSON.stringify(all, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
  return `${engineVersion}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}
