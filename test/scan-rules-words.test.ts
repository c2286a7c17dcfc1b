import { describe, expect, it } from 'vitest'
import { scanFiles } from '../packages/core/src/scan/scan.ts'
import { startMs } from './harness.ts'
import { concealmentCases } from './rules/concealment-cases.ts'
import { instructionCases } from './rules/instruction-cases.ts'
import { leakageCases } from './rules/leakage-cases.ts'
import { toolCases } from './rules/tool-cases.ts'

const cases = { ...instructionCases, ...concealmentCases, ...toolCases, ...leakageCases }

/** The rules that see more than an ordinary text, or power, in a SKILL.md of that body. */
function findRules(text: string): string[] {
  const { findings } = scanFiles([{ path: 'SKILL.md', text: `# A skill\n\n${text}\n` }], startMs)
  return findings.filter(({ signal }) => signal === 'hostile' || signal === 'suspicious').map(({ ruleId }) => ruleId)
}

describe.each(Object.entries(cases))('the rule %s', (id, { hits, misses }) => {
  it.each(hits)('finds: %s', (text) => {
    expect(findRules(text)).toContain(id)
  })

  it.each(misses)('lets pass: %s', (text) => {
    expect(findRules(text)).toEqual([])
  })
})
