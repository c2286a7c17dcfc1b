import {
  differenceInterval,
  wilsonInterval,
  type DifferenceInterval,
  type PassCounts,
  type RateInterval,
} from '@skillstead/protocol'
import type { EvalCase } from '@skillstead/skill-format/evals'
import { findUndecided, type JudgeSettings } from './judge-run.ts'
import type { RunRecord } from './journal.ts'

/** The counted runs of a case or of all cases, with or without the skill. */
export interface ArmSummary extends PassCounts {
  /** Runs that are not counted, because a judge gave no verdict, or their folder could not be prepared. */
  readonly unjudged: number
}

/** All counted runs with or without the skill. */
export interface ArmTotals extends ArmSummary {
  /** Runs of the agent that failed, were stopped at a limit, or printed too much. They count as not passed. */
  readonly broken: number
  /** The sum of the counted runs; undefined if the agent reports none. */
  readonly tokens?: number
  readonly seconds: number
  /** Undefined without a counted run. */
  readonly interval?: RateInterval
}

/** A case with its counted runs, and its checks that are not decided. */
interface CaseSummary {
  readonly id: string
  readonly with: ArmSummary
  readonly without: ArmSummary
  readonly undecided: readonly { readonly check: string; readonly reason: string }[]
}

/** The result of an evaluation. */
export interface EvalSummary {
  /** Cases that were run. */
  readonly cases: readonly CaseSummary[]
  /** Cases without a check that these settings decide, which were not run. */
  readonly skipped: readonly Omit<CaseSummary, 'with' | 'without'>[]
  readonly withSkill: ArmTotals
  readonly withoutSkill: ArmTotals
  /** The difference in passed runs with its 95 % interval; undefined unless both sides have a counted run. */
  readonly effect?: DifferenceInterval
  /** `none`: the interval includes 0, so that no difference is shown. */
  readonly verdict: 'better' | 'worse' | 'none'
}

/** The checks of a case that are not decided, each with the reason. */
function listUndecided(
  one: EvalCase,
  settings: Pick<JudgeSettings, 'judge' | 'allowScripts'>,
): CaseSummary['undecided'] {
  return one.checks.flatMap((check) => {
    const reason = findUndecided(check, settings)
    return reason === undefined ? [] : [{ check: check.name, reason }]
  })
}

/** Whether a case has a check that these settings decide. Others are not run: their runs could not be counted. */
export function isDecided(one: EvalCase, settings: Pick<JudgeSettings, 'judge' | 'allowScripts'>): boolean {
  const isPrepared = one.scaffold === undefined || settings.allowScripts
  return isPrepared && one.checks.some((check) => findUndecided(check, settings) === undefined)
}

/** Counts the runs. There is a winner only if the interval of the difference excludes 0. */
export function summarize(
  all: readonly EvalCase[],
  records: readonly RunRecord[],
  settings: Pick<JudgeSettings, 'judge' | 'allowScripts'>,
): EvalSummary {
  const byCase = Map.groupBy(records, (record) => record.case)
  const toFacts = (one: EvalCase) => ({ id: one.id, undecided: listUndecided(one, settings) })
  const cases = all
    .filter((one) => isDecided(one, settings))
    .map((one) => {
      const own = byCase.get(one.id) ?? []
      return { ...toFacts(one), with: countArm(own, 'with'), without: countArm(own, 'without') }
    })
  const skipped = all
    .filter((one) => !isDecided(one, settings))
    .map((one) => {
      const scripted = { check: one.scaffold ?? '', reason: 'It is a program of the skill. Pass --allow-scripts.' }
      const { id, undecided } = toFacts(one)
      return { id, undecided: one.scaffold === undefined ? undecided : [scripted, ...undecided] }
    })
  const [withSkill, withoutSkill] = [totalArm(records, 'with'), totalArm(records, 'without')]
  const isBoth = withSkill.runs > 0 && withoutSkill.runs > 0
  const effect = isBoth ? differenceInterval(withSkill, withoutSkill) : undefined
  const verdict = !effect ? 'none' : effect.low > 0 ? 'better' : effect.high < 0 ? 'worse' : 'none'
  return { cases, skipped, withSkill, withoutSkill, ...(effect && { effect }), verdict }
}

function countArm(records: readonly RunRecord[], arm: RunRecord['arm']): ArmSummary {
  const own = records.filter((record) => record.arm === arm)
  const count = (outcome: RunRecord['outcome']) => own.filter((record) => record.outcome === outcome).length
  const [passed, unjudged] = [count('passed'), count('unjudged')]
  return { runs: own.length - unjudged, passed, unjudged }
}

function totalArm(records: readonly RunRecord[], arm: RunRecord['arm']): ArmTotals {
  const counts = countArm(records, arm)
  const counted = records.filter((record) => record.arm === arm && record.outcome !== 'unjudged')
  const sum = (read: (record: RunRecord) => number) => counted.reduce((total, record) => total + read(record), 0)
  const hasTokens = counted.some(({ tokens }) => tokens !== undefined)
  return {
    ...counts,
    broken: counted.filter(({ ending, code }) => ending !== 'exit' || code !== 0).length,
    ...(hasTokens && { tokens: sum(({ tokens = 0 }) => tokens) }),
    seconds: Math.round(sum(({ seconds }) => seconds) * 1000) / 1000,
    ...(counts.runs > 0 && { interval: wilsonInterval(counts.passed, counts.runs) }),
  }
}
