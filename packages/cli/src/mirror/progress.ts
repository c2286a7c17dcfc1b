import type { SyncProgress } from '@skillstead/mirror'
import { SingleBar } from 'cli-progress'
import { toCount, type Output } from '../terminal/output.ts'
import { every, lineMs } from '../terminal/progress-bar.ts'

/** The progress of a sync. */
export interface ProgressLine {
  report(progress: SyncProgress): void
  /** Clears the progress line and restores the terminal. */
  end(): void
}

const phases: Readonly<Record<SyncProgress['phase'], string>> = {
  staging: 'reading the log',
  applying: 'importing changes',
  listing: 'reading skills',
}
/** Estimates from a shorter time are unreliable. */
const measureMs = 2_000

/** A bar on a terminal, a line at intervals elsewhere, nothing with --json. */
export function createProgressLine(output: Output): ProgressLine {
  if (output.json) return { report: () => undefined, end: () => undefined }
  const pace = createPace()
  return output.stderr.isTTY ? createBar(output, pace) : createLines(output, pace)
}

function createBar({ stderr }: Output, pace: Pace): ProgressLine {
  const format = '{bar} {phase} {value}{of}{left}'
  const bar = new SingleBar({ format, stream: stderr, clearOnComplete: true, hideCursor: true })
  let isOn = false
  return {
    report(progress) {
      const { done, total } = progress
      const parts = { phase: phases[progress.phase], of: toOf(total), left: toLeft(pace.secondsLeft(progress)) }
      if (!isOn) bar.start(Math.max(1, total ?? done), done, parts)
      isOn = true
      bar.setTotal(Math.max(1, total ?? done))
      bar.update(done, parts)
    },
    end() {
      if (isOn) bar.stop()
      isOn = false
    },
  }
}

function createLines(output: Output, pace: Pace): ProgressLine {
  const isDue = every(lineMs)
  return {
    report(progress) {
      const left = pace.secondsLeft(progress)
      if (!isDue()) return
      output.say(
        `${progress.upstream}: ${phases[progress.phase]}, ${toCount(progress.done)}${toOf(progress.total)}${toLeft(left)}`,
      )
    },
    end: () => undefined,
  }
}

interface Pace {
  /** Remaining seconds of the present phase, if they can be estimated. */
  secondsLeft(progress: SyncProgress): number | undefined
}

/**
 * Prefers the source's own estimate, because it knows its rate limit. Otherwise extrapolates from the progress so far.
 */
export function createPace(now: () => number = () => performance.now()): Pace {
  let began: { phase: string; done: number; atMs: number } | undefined
  return {
    secondsLeft({ phase, done, total, secondsLeft }) {
      if (began?.phase !== phase) began = { phase, done, atMs: now() }
      if (secondsLeft !== undefined) return secondsLeft
      const [passedMs, passed] = [now() - began.atMs, done - began.done]
      if (total === undefined || passedMs < measureMs || passed <= 0) return undefined
      return ((total - done) * passedMs) / passed / 1000
    },
  }
}

function toOf(total: number | undefined): string {
  return total === undefined ? '' : ` of ${toCount(total)}`
}

function toLeft(seconds: number | undefined): string {
  if (seconds === undefined) return ''
  if (seconds < 90) return `, about ${Math.max(1, Math.ceil(seconds))} s left`
  return seconds < 2 * 3600
    ? `, about ${Math.ceil(seconds / 60)} min left`
    : `, about ${Math.ceil(seconds / 3600)} h left`
}
