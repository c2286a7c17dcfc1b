import { SingleBar } from 'cli-progress'
import { every, lineMs } from './every.ts'
import type { Output } from './output.ts'

/**
 * Shows the number of processed rows when the total is unknown: a bar on a terminal, a line at intervals elsewhere,
 * nothing with --json.
 */
export function startRowBar(output: Output): { update(rows: number): void; stop(): void } {
  if (output.json || !output.stderr.isTTY) {
    const isDue = every(lineMs)
    return { update: (rows) => void (isDue() && output.say(`${rows} rows`)), stop() {} }
  }
  const bar = new SingleBar({ format: '{value} rows | {duration_formatted}', stream: output.stderr })
  bar.start(0, 0)
  return { update: (rows) => bar.update(rows), stop: () => bar.stop() }
}
