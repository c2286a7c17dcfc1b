import { RegistryError } from '@skillstead/protocol'

/** Limits the packs that are being made or sent: a client that reads slowly occupies some memory for minutes. */
export interface PacksSent {
  /**
   * Counts a pack until the returned function is called. Throws `rate_limited` for too many packs of the caller, and
   * `overloaded` for too many in all.
   */
  begin(caller: string): () => void
}

const callerPacksMax = 128
const packsMax = 1024

export function createPacksSent(): PacksSent {
  const callers = new Map<string, number>()
  let packs = 0
  return {
    begin(caller) {
      const own = callers.get(caller) ?? 0
      if (own >= callerPacksMax) {
        const message = `You are receiving ${callerPacksMax} packs at the moment. Wait until one of them has arrived.`
        throw new RegistryError('rate_limited', message, { retryAfterSeconds: 5 })
      }
      if (packs >= packsMax) {
        const message = 'The node is sending as many packs as it can. Try again in a moment.'
        throw new RegistryError('overloaded', message, { retryAfterSeconds: 5 })
      }
      callers.set(caller, own + 1)
      packs += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        packs -= 1
        const left = callers.get(caller)! - 1
        if (left > 0) callers.set(caller, left)
        else callers.delete(caller)
      }
    },
  }
}

/** Wraps a stream; calls `end` when it ends. Not a generator: one that was never started would not call it. */
export function untilEnded(stream: AsyncGenerator<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  const next = async () => {
    try {
      const result = await stream.next()
      if (result.done) end()
      return result
    } catch (error) {
      end()
      throw error
    }
  }
  const abandon = () => {
    end()
    return stream.return(undefined)
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: abandon }) }
}
