import { describe, expect, it } from 'vitest'
import { listTraits } from '../../packages/scanner/src/list-traits.ts'
import { readStoredRules, storeRules } from '../../packages/scanner/src/stored-rules.ts'
import { readStoredTraits, storeTraits } from '../../packages/scanner/src/stored-traits.ts'
import { combinations, facts, rules } from '../../packages/scanner/src/text-rules.ts'

describe('what packages are built with', () => {
  it('are the rules that their files compose', () => {
    const composed = { rules, facts, combinations }
    expect(rules.length).toBeGreaterThan(100)
    expect(readStoredRules(storeRules(composed))).toEqual(composed)
  })

  it('are the traits that are derived from the patterns', () => {
    const traits = listTraits()
    expect(traits.length).toBeGreaterThan(500)
    expect(readStoredTraits(storeTraits(traits))).toEqual(traits)
  })
})
