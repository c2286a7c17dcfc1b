/** Work of which one run is in progress at most. */
export interface SingleRun {
  readonly isRunning: boolean
  /** Resolves when the run in progress has ended; never rejects because of the work. */
  readonly ended: Promise<void>
  /** Begins a run, unless one is in progress. */
  start(): void
}

/**
 * Lets work run once at a time. Whether a run is in progress is a flag of its own, which each run clears however it
 * ends: without ever awaiting, or by throwing.
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
