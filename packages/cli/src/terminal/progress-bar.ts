import { SingleBar } from 'cli-progress'
import type { Output } from './output.ts'

/** The progress of a long command. */
export interface ProgressBar<Parts extends object> {
  /** Default for `total`: the previous total. */
  update(value: number, parts?: Parts, total?: number): void
  stop(): void
}

/** Starts a bar on a terminal, lines at intervals elsewhere, and nothing with --json. A `total` of 0 is unknown. */
export function startBar<Parts extends object>(
  output: Output,
  options: {
    format: string
    total: number
    parts?: Parts
    /** Whether the bar disappears at its end. */
    isCleared?: boolean
    toLine: (value: number) => string
  },
): ProgressBar<Parts> {
  const { format, total, parts, isCleared = false, toLine } = options
  if (output.json || !output.stderr.isTTY) {
    const isDue = oncePerInterval(lineMs)
    return { update: (value) => void (isDue() && output.say(toLine(value))), stop() {} }
  }
  const bar = new SingleBar({ format, stream: output.stderr, clearOnComplete: isCleared, hideCursor: isCleared })
  bar.start(total, 0, parts)
  return {
    update(value, given, most) {
      if (most !== undefined) bar.setTotal(most)
      bar.update(value, given)
    },
    stop: () => bar.stop(),
  }
}

/** Shows the number of processed rows. */
export function startRowBar(output: Output): ProgressBar<object> {
  return startBar(output, { format: '{value} rows | {duration_formatted}', total: 0, toLine: (rows) => `${rows} rows` })
}

/** Interval of progress lines in a file or pipe, where lines cannot be overwritten. */
const lineMs = 10_000

/** Returns a function that is true at most once per interval, first after one interval. */
export function oncePerInterval(ms: number, now: () => number = () => performance.now()): () => boolean {
  let lastMs = now()
  return () => {
    if (now() - lastMs < ms) return false
    lastMs = now()
    return true
  }
}
