import { RegistryError } from '@skillstead/protocol'

/** Memory for large objects that are in use. An object that several responses use counts once. */
export interface BytePins {
  /**
   * Waits until there is room for an object. Returns a function that releases it, and may be called again. Throws
   * `overloaded` if other objects occupy the memory for too long.
   */
  pin(id: string, bytes: number): Promise<() => void>
}

interface Pin {
  readonly bytes: number
  users: number
}

interface Waiting {
  readonly id: string
  readonly bytes: number
  admit(): void
}

/** `waitMs`: how long a caller waits at most. */
export function createBytePins({ bytesMax, waitMs }: { bytesMax: number; waitMs: number }): BytePins {
  const pins = new Map<string, Pin>()
  const queue = new Set<Waiting>()
  let used = 0

  /** An object that is larger than the whole memory is admitted alone. */
  function fits(id: string, bytes: number): boolean {
    return pins.has(id) || used === 0 || used + bytes <= bytesMax
  }

  function take(id: string, bytes: number): () => void {
    const pin = pins.get(id) ?? { bytes, users: 0 }
    if (pin.users === 0) {
      pins.set(id, pin)
      used += bytes
    }
    pin.users += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
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

  return {
    async pin(id, bytes) {
      // In order of arrival, so that small objects cannot keep a large one waiting.
      if (pins.has(id) || (queue.size === 0 && fits(id, bytes))) return take(id, bytes)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(waiting)
          reject(new RegistryError('overloaded', 'The node is sending too many large files. Try again later.'))
        }, waitMs)
        const waiting: Waiting = {
          id,
          bytes,
          admit() {
            clearTimeout(timer)
            queue.delete(waiting)
            resolve(take(id, bytes))
          },
        }
        queue.add(waiting)
      })
    },
  }
}
