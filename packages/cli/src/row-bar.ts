import { SingleBar } from 'cli-progress'
import type { Output } from './output.ts'

/** Counts rows on a terminal, where it is not known how many there will be; nothing elsewhere. */
export function startRowBar(output: Output): { update(rows: number): void; stop(): void } {
  if (output.json || !output.stderr.isTTY) return { update() {}, stop() {} }
  const bar = new SingleBar({ format: '{value} rows | {duration_formatted}', stream: output.stderr })
  bar.start(0, 0)
  return { update: (rows) => bar.update(rows), stop: () => bar.stop() }
}
