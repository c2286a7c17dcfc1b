import { RegistryError } from '@skillstead/protocol'

/** Bounds how much goes on at a time, for a caller and in all. */
export interface InFlight {
  /** Lets one more begin; what comes back is called when it is over. Throws `overloaded`. */
  begin(caller: string): () => void
}

export function createInFlight({ callerMax, max }: { callerMax: number; max: number }): InFlight {
  const running = new Map<string, number>()
  let total = 0
  return {
    begin(caller) {
      const own = running.get(caller) ?? 0
      if (own >= callerMax || total >= max) {
        throw new RegistryError('overloaded', 'Too many calls are under way; wait for the answers of some.', {
          retryAfterSeconds: 1,
        })
      }
      running.set(caller, own + 1)
      total += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        total -= 1
        const left = running.get(caller)! - 1
        if (left === 0) running.delete(caller)
        else running.set(caller, left)
      }
    },
  }
}
