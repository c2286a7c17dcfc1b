import { describe, expect, it } from 'vitest'
import { listTraits } from '../../packages/scanner/src/list-traits.ts'
import { readStoredTraits, storeTraits } from '../../packages/scanner/src/stored-traits.ts'

describe('the stored traits of the patterns', () => {
  it('are those that are derived from the patterns', () => {
    const traits = listTraits()
    expect(traits.length).toBeGreaterThan(500)
    const withOutside = traits.map(({ needs, ...rest }) => {
      return { ...rest, needs: needs.map((need) => need.map((each) => ({ outside: 0, ...each }))) }
    })
    expect(readStoredTraits(storeTraits(traits))).toEqual(withOutside)
  })
})
