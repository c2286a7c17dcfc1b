import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listExpressions } from '../../packages/scanner/src/match/traits.ts'
import { allRules, facts, rules } from '../../packages/scanner/src/rules/rule-table.ts'
import { listProbes, proseRecordUrl, toProseDigest, type ProseRecord } from '../support/prose-record.ts'

const prose = allRules.filter((rule) => rule.prose)
const records = JSON.parse(readFileSync(proseRecordUrl, 'utf8')) as readonly ProseRecord[]
const toRecord = (id: string) => records.find((record) => record.id === id)

describe('the rules about prose', () => {
  it('have at most 40 regular expressions in total', () => {
    const ids = new Set(prose.flatMap(({ id }) => listProbes(id)))
    const patterns = [...rules, ...facts].flatMap((probe) => (ids.has(probe.id) ? probe.patterns : []))
    // The third expression of a pattern, its stop, only ends the passage in which the second one is sought.
    const expressions = patterns.flatMap((each) => listExpressions('match' in each ? each.match : each).slice(0, 2))
    expect(expressions.length).toBeGreaterThan(0)
    expect(expressions.length).toBeLessThanOrEqual(40)
  })

  it.each(prose.map(({ id }) => id))('%s is unchanged since `bench scan --ablation` measured the rule', (id) => {
    expect(toRecord(id)?.digest).toBe(toProseDigest(id))
  })

  it.each(prose.filter(({ signal }) => signal !== 'power').map(({ id }) => id))(
    '%s finds attacks from at least two sources, and matches no benign skill and at most two real skills',
    (id) => {
      const { true: hits, false: alarms, real } = toRecord(id)!
      expect(Object.keys(hits).length).toBeGreaterThanOrEqual(2)
      expect(alarms).toEqual({})
      expect(real).toBeLessThanOrEqual(2)
    },
  )
})
