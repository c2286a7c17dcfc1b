import { toScoreVerdict, type ScanFinding } from '@skillstead/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toRisk, toScore, toVerdict } from '@skillstead/scanner'

type Judged = Parameters<typeof toScore>[0][number]

const finding = (signal: ScanFinding['signal'], fields: Partial<Judged> = {}): Judged => ({
  ruleId: 'a',
  category: 'one',
  severity: 'high',
  signal,
  path: 'SKILL.md',
  line: 1,
  column: 1,
  excerpt: 'Do this. Do that, too.',
  context: { role: 'instruction', polarity: 'imperative' },
  suppressed: null,
  ...fields,
})
const reason = { suppressed: { reason: 'ours' } }
const elsewhere = { ruleId: 'b', category: 'two', line: 2 }

const findings = fc.array(
  fc.record<Judged>({
    ruleId: fc.constantFrom('a', 'b', 'c', 'd'),
    category: fc.constantFrom('one', 'two', 'incomplete-scan'),
    severity: fc.constantFrom('critical', 'high', 'medium', 'low', 'info'),
    signal: fc.constantFrom('hostile', 'suspicious', 'power', 'none'),
    path: fc.constantFrom('SKILL.md', 'a.sh'),
    line: fc.integer({ min: 1, max: 3 }),
    column: fc.integer({ min: 1, max: 20 }),
    excerpt: fc.constantFrom('Do this. Do that, too.', 'Do this and that'),
    context: fc.record({
      role: fc.constantFrom('instruction', 'script', 'test'),
      polarity: fc.constantFrom('imperative', 'quotation'),
    }),
    suppressed: fc.constantFrom(null, { reason: 'ours' }),
  }),
  { maxLength: 12 },
)

describe('the verdict of a scan', () => {
  it.each<[string, Judged[], string]>([
    ['nothing', [], 'safe'],
    ['power', [finding('power', { severity: 'critical' })], 'safe'],
    ['what was no instruction', [finding('none')], 'safe'],
    ['one suspicious finding', [finding('suspicious')], 'caution'],
    ['two of one category', [finding('suspicious'), finding('suspicious', { line: 9 })], 'caution'],
    ['two at one place', [finding('suspicious'), finding('suspicious', { ...elsewhere, line: 1 })], 'caution'],
    [
      'two of one sentence',
      [finding('suspicious'), finding('suspicious', { ...elsewhere, line: 1, column: 6 })],
      'caution',
    ],
    [
      'two sentences of one line',
      [finding('suspicious'), finding('suspicious', { ...elsewhere, line: 1, column: 10 })],
      'dangerous',
    ],
    ['two that are independent', [finding('suspicious'), finding('suspicious', elsewhere)], 'dangerous'],
    ['one hostile finding', [finding('hostile', { severity: 'low' })], 'dangerous'],
    ['one that its author explains', [finding('suspicious', reason)], 'safe'],
    [
      'two that their author explains',
      [finding('suspicious', reason), finding('suspicious', { ...elsewhere, ...reason })],
      'dangerous',
    ],
    ['a hostile one that its author explains', [finding('hostile', reason)], 'dangerous'],
    [
      'one next to what may be an example',
      [
        finding('suspicious'),
        finding('suspicious', { ...elsewhere, context: { role: 'instruction', polarity: 'example' } }),
      ],
      'caution',
    ],
    [
      'one next to an incomplete scan',
      [finding('suspicious'), finding('suspicious', { ...elsewhere, category: 'incomplete-scan' })],
      'caution',
    ],
  ])('is correct for %s', (_, all, verdict) => expect(toVerdict(all)).toBe(verdict))
})

describe('the score of a scan', () => {
  it('is within the range of its verdict for any findings', () => {
    const ranges = { safe: [80, 100], caution: [40, 79], dangerous: [0, 39] } as const
    fc.assert(
      fc.property(findings, (all) => {
        const [least, most] = ranges[toVerdict(all)]
        expect(toScore(all)).toBeGreaterThanOrEqual(least)
        expect(toScore(all)).toBeLessThanOrEqual(most)
        expect(toScoreVerdict(toScore(all))).toBe(toVerdict(all))
        expect(toScore(all)).toBe(Math.round(toScore(all)))
      }),
    )
  })

  it('does not depend on repetition or order', () => {
    fc.assert(
      fc.property(findings, (all) => {
        expect(toScore([...all, ...all])).toBe(toScore(all))
        expect(toScore(all.toReversed())).toBe(toScore(all))
      }),
    )
  })

  it('never rises when a finding is added, and never falls when a finding is suppressed with a reason', () => {
    fc.assert(
      fc.property(findings, (all) => {
        for (const [index, one] of all.entries()) {
          expect(toScore(all.toSpliced(index, 1))).toBeGreaterThanOrEqual(toScore(all))
          const explained = all.with(index, { ...one, ...reason })
          expect(toScore(explained)).toBeGreaterThanOrEqual(toScore(all.with(index, { ...one, suppressed: null })))
        }
      }),
    )
  })

  it('subtracts a fixed penalty for each severity', () => {
    const scores = (['critical', 'high', 'medium', 'low', 'info'] as const).map((severity) =>
      toScore([finding('suspicious', { severity })]),
    )
    expect(scores).toEqual([55, 67, 73, 77, 79])
  })
})

describe('the risk of a skill', () => {
  it('is the highest severity among its powers, but at most high', () => {
    expect(toRisk([])).toBe('none')
    expect(toRisk([finding('none')])).toBe('none')
    expect(toRisk([finding('power', { severity: 'low' }), finding('power', { severity: 'medium' })])).toBe('medium')
    expect(toRisk([finding('power', { severity: 'critical' })])).toBe('high')
  })
})
