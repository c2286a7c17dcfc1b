import { onTestFinished, vi } from 'vitest'

/**
 * Stops `performance.now()` until the end of the test, so that nothing takes time for code that measures it, such as
 * the writer, which commits together only what was queued within some milliseconds.
 */
export function stopElapsedTime(): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => void clock.mockRestore())
}
