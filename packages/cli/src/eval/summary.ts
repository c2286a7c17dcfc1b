import {
  differenceInterval,
  wilsonInterval,
  type DifferenceInterval,
  type PassCounts,
  type RateInterval,
} from '@skillstead/protocol'
import type { EvalCase } from '@skillstead/skill-format/evals'
import { findUndecided, scriptReason, type DecidedBy } from './judge-run.ts'
import { isBroken, type RunRecord } from './journal.ts'

/** The maximum share of broken runs, and of unjudged runs, in a usable result. */
export const spoiltShareMax = 0.05

/** The counted runs of a case or of all cases, with or without the skill. */
export interface ArmSummary extends PassCounts {
  /** Runs that are not counted, because a judge gave no verdict, or their folder could not be prepared. */
  readonly unjudged: number
}

/** All counted runs with or without the skill, of the cases that have counted runs on both sides. */
export interface ArmTotals extends ArmSummary {
  /**
   * Runs of all cases in which the agent failed, was stopped at a limit, or printed too much. They count as not passed.
   */
  readonly broken: number
  /** The sum of the tokens of the counted runs; undefined if the agent reports none. */
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
  /** Whether more than 5 % of the runs are not judged: an agent may have caused that for runs that would fail. */
  readonly isSpoilt: boolean
  readonly withSkill: ArmTotals
  readonly withoutSkill: ArmTotals
  /**
   * The difference in passed runs with its 95 % interval; undefined if no case has counted runs on both sides, or if
   * too many runs are not judged.
   */
  readonly effect?: DifferenceInterval
  /** `none`: the interval includes 0, so that no difference is shown. */
  readonly verdict: 'better' | 'worse' | 'none'
}

/** The undecided checks of a case, and its scaffold script if the script may not run, each with the reason. */
function listUndecided(one: EvalCase, settings: DecidedBy): CaseSummary['undecided'] {
  const scaffold = isPrepared(one, settings) ? [] : [{ check: one.scaffold!, reason: scriptReason }]
  const checks = one.checks.flatMap((check) => {
    const reason = findUndecided(check, settings)
    return reason === undefined ? [] : [{ check: check.name, reason }]
  })
  return [...scaffold, ...checks]
}

function isPrepared({ scaffold }: EvalCase, { allowScripts }: DecidedBy): boolean {
  return scaffold === undefined || allowScripts
}

/** Whether a case has a check that these settings decide. Other cases are not run: their runs could not be counted. */
export function isDecided(one: EvalCase, settings: DecidedBy): boolean {
  return isPrepared(one, settings) && one.checks.some((check) => findUndecided(check, settings) === undefined)
}

/**
 * Counts the runs with and without the skill. A case without a counted run on one of these sides would bias the totals
 * and is left out of them. There is a winner only if the interval of the difference excludes 0.
 */
export function summarize(all: readonly EvalCase[], records: readonly RunRecord[], settings: DecidedBy): EvalSummary {
  const byCase = Map.groupBy(records, (record) => record.case)
  const cases: CaseSummary[] = []
  const skipped: Omit<CaseSummary, 'with' | 'without'>[] = []
  for (const one of all) {
    const facts = { id: one.id, undecided: listUndecided(one, settings) }
    const own = byCase.get(one.id) ?? []
    if (isDecided(one, settings))
      cases.push({ ...facts, with: countArm(own, 'with'), without: countArm(own, 'without') })
    else skipped.push(facts)
  }
  const compared = new Set(cases.filter(isCompared).map(({ id }) => id))
  const [withSkill, withoutSkill] = [totalArm(records, 'with', compared), totalArm(records, 'without', compared)]
  const isSpoilt = withSkill.unjudged + withoutSkill.unjudged > spoiltShareMax * records.length
  const effect = !isSpoilt && compared.size > 0 ? differenceInterval(withSkill, withoutSkill) : undefined
  const verdict = !effect ? 'none' : effect.low > 0 ? 'better' : effect.high < 0 ? 'worse' : 'none'
  return { cases, skipped, isSpoilt, withSkill, withoutSkill, ...(effect && { effect }), verdict }
}

/** Whether a case has counted runs on both sides. */
export function isCompared(one: Pick<CaseSummary, 'with' | 'without'>): boolean {
  return one.with.runs > 0 && one.without.runs > 0
}

function countArm(records: readonly RunRecord[], arm: RunRecord['arm']): ArmSummary {
  const own = records.filter((record) => record.arm === arm)
  const count = (outcome: RunRecord['outcome']) => own.filter((record) => record.outcome === outcome).length
  const [passed, unjudged] = [count('passed'), count('unjudged')]
  return { runs: own.length - unjudged, passed, unjudged }
}

function totalArm(records: readonly RunRecord[], arm: RunRecord['arm'], compared: ReadonlySet<string>): ArmTotals {
  const own = records.filter((record) => record.arm === arm)
  const counted = own.filter((record) => compared.has(record.case) && record.outcome !== 'unjudged')
  const { runs, passed } = countArm(counted, arm)
  const sum = (read: (record: RunRecord) => number) => counted.reduce((total, record) => total + read(record), 0)
  const hasTokens = counted.some(({ tokens }) => tokens !== undefined)
  return {
    runs,
    passed,
    unjudged: countArm(own, arm).unjudged,
    broken: own.filter((record) => record.outcome !== 'unjudged' && isBroken(record)).length,
    ...(hasTokens && { tokens: sum(({ tokens = 0 }) => tokens) }),
    seconds: Math.round(sum(({ seconds }) => seconds) * 1000) / 1000,
    ...(runs > 0 && { interval: wilsonInterval(passed, runs) }),
  }
}
