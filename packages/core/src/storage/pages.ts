import { setImmediate } from 'node:timers/promises'

/** Reports how far a long operation is, for people. */
export type Tell = (line: string) => void

/** How often somebody who waits is told how far it is. */
const tellEveryMs = 1_000

/**
 * All rows of a table page by page, with turns of the event loop between, so that a node which serves meanwhile goes on.
 * `read` gives the rows after one, `toKey` what names a row there.
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

/** Tells how far a count is, now and then. */
export function createProgress(tell: Tell, what: string, total: number): (count: number) => void {
  let done = 0
  let toldMs = performance.now()
  return (count) => {
    done += count
    if (performance.now() - toldMs < tellEveryMs) return
    toldMs = performance.now()
    tell(`${done} of ${total} ${what}`)
  }
}
