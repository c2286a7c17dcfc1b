import { setImmediate } from 'node:timers/promises'

/**
 * Length of a slice: the milliseconds for which responses may block the event loop without a pause. All responses share
 * the slices: with one slice per response, a hundred clients that clone would block the event loop for a second.
 */
const sliceMs = 10
let sliceEndsAtMs = 0
let lastSlice: Promise<void> = Promise.resolve()

/**
 * Whether work has to wait for the {@link nextSlice}. Cheap enough to call for each object. Call this function between
 * the steps of work whose amount a request decides: queries of SQLite do not yield to the event loop.
 */
export function isSliceOver(): boolean {
  return performance.now() >= sliceEndsAtMs
}

/**
 * Waits for the slices of earlier callers, and for one turn of the event loop. Throws the reason of the signal if the
 * signal is aborted, because the client disconnected.
 */
export async function nextSlice(signal?: AbortSignal): Promise<void> {
  lastSlice = beginSlice(lastSlice)
  await lastSlice
  signal?.throwIfAborted()
}

async function beginSlice(before: Promise<void>): Promise<void> {
  await before
  await setImmediate()
  sliceEndsAtMs = performance.now() + sliceMs
}
