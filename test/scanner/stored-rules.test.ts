import { describe, expect, it } from 'vitest'
import { computeRulesVersion } from '../../packages/scanner/src/rules/compute-rules-version.ts'
import { builtInRules } from '../../packages/scanner/src/rules/prepared-rules.ts'

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
