import { RegistryError } from '@skillstead/protocol'

/** Memory for large objects that are in use. An object that several responses use counts once. */
export interface BytePins {
  /**
   * Waits until there is room for an object. Returns a function that releases it, and may be called again. Throws
   * `overloaded` if other objects occupy the memory for too long.
   *
   * `giveUp` is called if others wait for the memory of an object that is in use for too long: clients that read slowly
   * must not keep it from others. It must end the use.
   */
  pin(id: string, bytes: number, giveUp: () => void): Promise<() => void>
}

interface Pin {
  readonly bytes: number
  users: number
}

interface Use {
  readonly sinceMs: number
  giveUp(): void
}

interface Waiting {
  readonly id: string
  readonly bytes: number
  admit(): void
}

/** `waitMs`: how long a caller waits until slow uses are given up, and then once more until it is refused. */
export function createBytePins({ bytesMax, waitMs }: { bytesMax: number; waitMs: number }): BytePins {
  const pins = new Map<string, Pin>()
  const uses = new Set<Use>()
  const queue = new Set<Waiting>()
  let used = 0

  /** An object that is larger than the whole memory is admitted alone. */
  function fits(id: string, bytes: number): boolean {
    return pins.has(id) || used === 0 || used + bytes <= bytesMax
  }

  function take(id: string, bytes: number, giveUp: () => void): () => void {
    const use: Use = { sinceMs: performance.now(), giveUp }
    uses.add(use)
    const pin = pins.get(id) ?? { bytes, users: 0 }
    if (pin.users === 0) {
      pins.set(id, pin)
      used += bytes
    }
    pin.users += 1
    return () => {
      if (!uses.delete(use)) return
      pin.users -= 1
      if (pin.users > 0) return
      pins.delete(id)
      used -= bytes
      for (const waiting of queue) {
        if (!fits(waiting.id, waiting.bytes)) break
        waiting.admit()
      }
    }
  }

  function giveUpSlow(): void {
    const now = performance.now()
    for (const { sinceMs, giveUp } of uses) if (now - sinceMs >= waitMs) giveUp()
  }

  return {
    async pin(id, bytes, giveUp) {
      // In order of arrival, so that small objects cannot keep a large one waiting.
      if (pins.has(id) || (queue.size === 0 && fits(id, bytes))) return take(id, bytes, giveUp)
      return new Promise((resolve, reject) => {
        let timer = setTimeout(() => {
          giveUpSlow()
          timer = setTimeout(refuse, waitMs)
        }, waitMs)
        const refuse = () => {
          queue.delete(waiting)
          reject(new RegistryError('overloaded', 'The node is sending too many large files. Try again later.'))
        }
        const waiting: Waiting = {
          id,
          bytes,
          admit() {
            clearTimeout(timer)
            queue.delete(waiting)
            resolve(take(id, bytes, giveUp))
          },
        }
        queue.add(waiting)
      })
    },
  }
}
