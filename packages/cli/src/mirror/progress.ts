import type { SyncProgress } from '@skillstead/mirror'
import { toCount, type Output } from '../terminal/output.ts'
import { startBar, type ProgressBar } from '../terminal/progress-bar.ts'

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

/** Runs `work` and shows the progress that it reports. */
export async function showProgress<T>(
  output: Output,
  work: (report: ProgressLine['report']) => Promise<T>,
): Promise<T> {
  const line = createProgressLine(output)
  try {
    return await work(line.report)
  } finally {
    line.end()
  }
}

/** A bar on a terminal, a line at intervals elsewhere, nothing with --json. */
function createProgressLine(output: Output): ProgressLine {
  const pace = createSyncPace()
  let bar: ProgressBar<object> | undefined
  let line = ''
  return {
    report(progress) {
      const { upstream, phase, done, total } = progress
      const parts = {
        phase: phases[phase],
        of: total === undefined ? '' : ` of ${toCount(total)}`,
        left: toRemainingTime(pace.secondsLeft(progress)),
      }
      line = `${upstream}: ${parts.phase}, ${toCount(done)}${parts.of}${parts.left}`
      const format = '{bar} {phase} {value}{of}{left}'
      bar ??= startBar(output, { format, total: 1, parts, isCleared: true, toLine: () => line })
      bar.update(done, parts, Math.max(1, total ?? done))
    },
    end() {
      bar?.stop()
      bar = undefined
    },
  }
}

interface Pace {
  /** Remaining seconds of the present phase, if they can be estimated. */
  secondsLeft(progress: SyncProgress): number | undefined
}

/**
 * Prefers the source's own estimate, because it knows its rate limit. Otherwise extrapolates from the progress so far.
 */
export function createSyncPace(now: () => number = () => performance.now()): Pace {
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

function toRemainingTime(seconds: number | undefined): string {
  if (seconds === undefined) return ''
  if (seconds < 90) return `, about ${Math.max(1, Math.ceil(seconds))} s left`
  return seconds < 2 * 3600
    ? `, about ${Math.ceil(seconds / 60)} min left`
    : `, about ${Math.ceil(seconds / 3600)} h left`
}
