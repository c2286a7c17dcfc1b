import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInDocuments } from '../../packages/scanner/src/rules/built-in.ts'
import { proseRecordUrl, toProseDigest, type ProseRecord } from '../support/prose-record.ts'

const prose = builtInDocuments.flatMap(({ rules = [] }) =>
  rules.flatMap((rule) => (rule.prose && 'patterns' in rule ? [rule] : [])),
)
const records = JSON.parse(readFileSync(proseRecordUrl, 'utf8')) as readonly ProseRecord[]
const toRecord = (id: string) => records.find((record) => record.id === id)

describe('the rules about prose', () => {
  it('have at most 40 regular expressions in total', () => {
    const expressions = prose.flatMap(({ patterns }) => patterns)
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
