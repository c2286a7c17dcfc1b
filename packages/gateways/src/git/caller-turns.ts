import pLimit, { type LimitFunction } from 'p-limit'

/**
 * Runs a limited number of tasks of each caller at a time; further tasks wait. All running tasks share the slices of
 * the event loop in turn: without the limit, a caller with a hundred clones would get a hundred times the share of a
 * caller with one.
 */
export interface CallerTurns {
  /** Runs `work` when it is its turn. Throws the reason of the signal if the client is gone by then. */
  take<Result>(caller: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>
}

export function createCallerTurns(atATime: number): CallerTurns {
  const callers = new Map<string, { readonly inTurn: LimitFunction; calls: number }>()
  return {
    async take(caller, signal, work) {
      const own = callers.get(caller) ?? { inTurn: pLimit(atATime), calls: 0 }
      callers.set(caller, own)
      own.calls += 1
      try {
        return await own.inTurn(() => {
          signal.throwIfAborted()
          return work()
        })
      } finally {
        own.calls -= 1
        if (own.calls === 0) callers.delete(caller)
      }
    },
  }
}
