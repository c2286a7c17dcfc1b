import { toCount } from './output.ts'

/** The progress of a long command. */
interface PhaseProgress {
  /** Each phase has a pace of its own. */
  readonly phase: string
  readonly done: number
  /** Undefined if the total is unknown. */
  readonly total?: number | undefined
  /** The source's own estimate, which takes precedence because the source knows its rate limit. */
  readonly secondsLeft?: number | undefined
}

/** The pace of the present phase, as far as it can be estimated. */
interface Pace {
  readonly perSecond: number | undefined
  readonly secondsLeft: number | undefined
}

/** The shortest time for an estimate, in milliseconds: estimates from a shorter time are unreliable. */
const measureMs = 2_000

/** Returns a function that extrapolates the pace from the progress since the first report of a phase. */
export function createPace(now: () => number = () => performance.now()): (progress: PhaseProgress) => Pace {
  let began: { phase: string; done: number; atMs: number } | undefined
  return ({ phase, done, total, secondsLeft }) => {
    if (began?.phase !== phase) began = { phase, done, atMs: now() }
    const [passedMs, passed] = [now() - began.atMs, done - began.done]
    if (passedMs < measureMs || passed <= 0) return { perSecond: undefined, secondsLeft }
    const perSecond = (passed * 1000) / passedMs
    return { perSecond, secondsLeft: secondsLeft ?? (total === undefined ? undefined : (total - done) / perSecond) }
  }
}

/** The pace as the end of a line: `, 120 a second, about 40 s left`. */
export function toPaceText({ perSecond = 0, secondsLeft }: Pace): string {
  const rate = perSecond < 1 ? '' : `, ${toCount(Math.round(perSecond))} a second`
  return rate + toRemainingTime(secondsLeft)
}

function toRemainingTime(seconds: number | undefined): string {
  if (seconds === undefined) return ''
  if (seconds < 90) return `, about ${Math.max(1, Math.ceil(seconds))} s left`
  return seconds < 2 * 3600
    ? `, about ${Math.ceil(seconds / 60)} min left`
    : `, about ${Math.ceil(seconds / 3600)} h left`
}
