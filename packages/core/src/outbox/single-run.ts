/** Work of which at most one run is in progress. */
export interface SingleRun {
  readonly isRunning: boolean
  /** Resolves when the run in progress has ended; never rejects because of the work. */
  readonly ended: Promise<void>
  /** Starts a run, unless one is in progress. */
  start(): void
}

/**
 * Creates work that runs once at a time. The flag `isRunning` is separate from the promise, because a run may end
 * without ever awaiting, or by throwing, and the flag must be cleared in both cases.
 */
export function createSingleRun(work: () => Promise<void> | void, onError: (error: unknown) => void): SingleRun {
  let isRunning = false
  let ended = Promise.resolve()

  async function run(): Promise<void> {
    try {
      await work()
    } catch (error) {
      onError(error)
    } finally {
      isRunning = false
    }
  }

  return {
    get isRunning() {
      return isRunning
    },
    get ended() {
      return ended
    },
    start() {
      if (isRunning) return
      isRunning = true
      ended = run()
    },
  }
}
