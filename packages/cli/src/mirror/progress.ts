import type { SyncProgress } from '@skillstead/mirror'
import { toCount, type Output } from '../terminal/output.ts'
import { createPace, toPaceText } from '../terminal/pace.ts'
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
  const toPace = createPace()
  let bar: ProgressBar<object> | undefined
  let line = ''
  return {
    report(progress) {
      const { upstream, phase, done, total } = progress
      const parts = { phase: phases[phase], of: toOf(total), pace: toPaceText(toPace(progress)) }
      line = `${upstream}: ${parts.phase}, ${toCount(done)}${parts.of}${parts.pace}`
      const format = '{bar} {phase} {value}{of}{pace}'
      bar ??= startBar(output, { format, total: 1, parts, isCleared: true, toLine: () => line })
      bar.update(done, parts, Math.max(1, total ?? done))
    },
    end() {
      bar?.stop()
      bar = undefined
    },
  }
}

function toOf(total: number | undefined): string {
  return total === undefined ? '' : ` of ${toCount(total)}`
}
