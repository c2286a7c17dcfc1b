import { createHash } from 'node:crypto'
import { engineRules } from './engine-rules.ts'
import { combinations, facts, rules } from './rule-table.ts'

/** Increase this with every change of the engine that changes a report. */
const engineVersion = '6'

/**
 * Version of engine and rules. It contains a hash of the rules, so that a change cannot be forgotten; reports of other
 * versions are renewed by a rescan.
 */
export const rulesVersion = `${engineVersion}.${createHash('sha256').update(toJson()).digest('hex').slice(0, 12)}`

function toJson(): string {
  const all = [rules, facts, combinations, engineRules]
  return JSON.stringify(all, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))
}
