/** Counts of runs of evaluation cases: at least one run, and at most as many passed. */
export interface PassCounts {
  readonly passed: number
  readonly runs: number
}

/** A share of passed runs with its 95 % confidence interval, all from 0 to 1. */
export interface RateInterval {
  readonly rate: number
  readonly low: number
  readonly high: number
}

/** A difference of two shares with its 95 % confidence interval, all from -1 to 1. */
export interface DifferenceInterval {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** The quantile of the standard normal distribution for two-sided intervals of 95 %. */
const z = 1.959_963_984_540_054

/**
 * The share of passed runs with its 95 % Wilson score interval, without correction for continuity. Unlike the textbook
 * interval it stays within 0 and 1, and holds for few runs and for shares near 0 or 1. Source: E. B. Wilson, "Probable
 * inference, the law of succession, and statistical inference", Journal of the American Statistical Association 22
 * (1927). Throws a `TypeError` for no runs, for negative or infinite counts, and for more passed than runs.
 *
 * @example
 *   wilsonInterval(8, 10) // { rate: 0.8, low: 0.490, high: 0.943 }
 */
export function wilsonInterval(passed: number, runs: number): RateInterval {
  if (!(runs > 0 && Number.isFinite(runs) && passed >= 0 && passed <= runs)) {
    throw new TypeError(
      `There must be at least one run, and no more passed runs than there were runs; given: ${passed} of ${runs}.`,
    )
  }
  const rate = passed / runs
  const square = z * z
  const centre = (passed + square / 2) / (runs + square)
  const half = (z / (runs + square)) * Math.sqrt((passed * (runs - passed)) / runs + square / 4)
  // With no passed runs `low` is exactly 0, and with only passed runs `high` is exactly 1: the square root would round.
  return {
    rate,
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === runs ? 1 : Math.min(1, centre + half),
  }
}

/**
 * The difference between the shares of passed runs with and without a skill, with its 95 % interval by Newcombe's
 * hybrid score method, which joins both Wilson intervals. There is evidence of a difference only if the interval
 * excludes 0. Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions:
 * comparison of eleven methods", Statistics in Medicine 17 (1998), method 10. Throws as {@link wilsonInterval}.
 *
 * @example
 *   differenceInterval({ passed: 56, runs: 70 }, { passed: 48, runs: 80 }) // { value: 0.2, low: 0.052, high: 0.334 }
 */
export function differenceInterval(withSkill: PassCounts, withoutSkill: PassCounts): DifferenceInterval {
  const first = wilsonInterval(withSkill.passed, withSkill.runs)
  const second = wilsonInterval(withoutSkill.passed, withoutSkill.runs)
  const value = first.rate - second.rate
  return {
    value,
    low: Math.max(-1, value - Math.hypot(first.rate - first.low, second.high - second.rate)),
    high: Math.min(1, value + Math.hypot(first.high - first.rate, second.rate - second.low)),
  }
}

/** A share as whole per cent, such as `85 %`. */
export function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** A difference of two shares as whole percentage points with its sign, such as `+30`. */
export function toPoints(difference: number): string {
  const points = Math.round(difference * 100)
  return points > 0 ? `+${points}` : `${points}`.replace('-', '−')
}

/** A pass rate in words, such as `85 % of runs pass, 95 % interval 79 % to 89 %`. */
export function toRateText({ rate, low, high }: RateInterval): string {
  return `${toPercent(rate)} of runs pass, 95 % interval ${toPercent(low)} to ${toPercent(high)}`
}

/** A difference of two pass rates in words. An interval that includes 0 is reported to show no difference. */
export function toEffectText({ value, low, high }: DifferenceInterval): string {
  const text = `${toPoints(value)} points, 95 % interval ${toPoints(low)} to ${toPoints(high)}`
  return low > 0 || high < 0 ? text : `${text}: no difference shown`
}
