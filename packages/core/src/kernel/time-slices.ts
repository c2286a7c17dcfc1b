import { setImmediate } from 'node:timers/promises'

/**
 * Time for which all responses together may block the event loop at once. They share the slices, because they share the
 * event loop: one slice per response would block it for a second if a hundred clients clone.
 */
const sliceMs = 10
let endsAtMs = 0
let last: Promise<void> = Promise.resolve()

/**
 * Whether work has to wait for the {@link nextSlice}. It costs little enough to be called for each object. Call it between
 * the steps of work whose amount a request decides: a query of SQLite gives no other request a turn.
 */
export function isSliceOver(): boolean {
  return performance.now() >= endsAtMs
}

/**
 * Waits for the turns of those who came before, and for one turn of the event loop. Throws the reason of the signal if
 * it is aborted, because the client is gone.
 */
export async function nextSlice(signal?: AbortSignal): Promise<void> {
  last = beginSlice(last)
  await last
  signal?.throwIfAborted()
}

async function beginSlice(before: Promise<void>): Promise<void> {
  await before
  await setImmediate()
  endsAtMs = performance.now() + sliceMs
}
