import { setImmediate } from 'node:timers/promises'

/** Reports the progress of a long operation as a line of text. */
export type Report = (line: string) => void

/** Interval of progress reports, in milliseconds. */
const reportEveryMs = 1_000

/**
 * Reads all rows of a table page by page, and yields to the event loop between pages, so that a serving node stays
 * responsive. `read` returns the rows after a key, `toKey` the key of a row.
 */
export async function* readPages<Row, Key>(
  first: Key,
  read: (after: Key) => Promise<Row[]>,
  toKey: (row: Row) => Key,
): AsyncGenerator<Row[]> {
  for (let after = first; ;) {
    const rows = await read(after)
    if (rows.length === 0) return
    yield rows
    after = toKey(rows.at(-1)!)
    await setImmediate()
  }
}

/** Returns a function that adds to a count, and reports it about once a second. */
export function createProgress(report: Report, what: string, total: number): (count: number) => void {
  let done = 0
  let reportedMs = performance.now()
  return (count) => {
    done += count
    if (performance.now() - reportedMs < reportEveryMs) return
    reportedMs = performance.now()
    report(`${done} of ${total} ${what}`)
  }
}
