import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { builtInDocuments } from '../../packages/scanner/src/rules/built-in.ts'
import { builtInRules } from '../../packages/scanner/src/rules/prepared-rules.ts'

/** Raised with every change of the engine that changes a report. */
const engineVersion = '13'

/** The version of the engine, and the digest of all built-in rules. */
function computeRulesVersion(): string {
  const digest = createHash('sha256').update(JSON.stringify(builtInDocuments)).digest('hex')
  return `${engineVersion}.${digest.slice(0, 12)}`
}

describe('the version of the rules', () => {
  it('is computed from the current rules (vitest -u on this file updates the version)', async () => {
    const lines = [
      '/** Identifies the engine and the rules: versions with a report of another engine or other rules are scanned again. */',
      `export const rulesVersion = '${computeRulesVersion()}'`,
    ]
    const path = '../../packages/scanner/src/rules/rules-version.ts'
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(path)
  })
})

describe('the prepared rules in the published packages', () => {
  it('are plain JSON data', () => {
    const { traits } = builtInRules
    expect(JSON.parse(JSON.stringify(traits))).toEqual(traits)
  })
})
