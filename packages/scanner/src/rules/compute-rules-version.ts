import { createHash } from 'node:crypto'
import { builtInDocuments } from './built-in.ts'

/** Raised with every change of the engine that changes a report. */
const engineVersion = '13'

/** Computes `rulesVersion` from the version of the engine and the content of all built-in rules. */
export function computeRulesVersion(): string {
  const text = JSON.stringify(builtInDocuments)
  return `${engineVersion}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}
