import type { WebhookEvent } from '@skillstead/protocol'

/**
 * Handles an event; a returned promise is awaited. If the handler throws, the next delivery calls the handler again.
 */
export type WebhookHandler = (event: WebhookEvent) => unknown

/** Maximum number of event ids with claims that an unavailable store could not release; the oldest id is dropped. */
const owedMax = 10_000

/**
 * Creates a function that handles an event unless it was handled before, and returns whether it was new. A concurrent
 * duplicate waits for the handler, and fails if the handler fails.
 */
export function createHandling(seen: Seen): (event: WebhookEvent, handle: WebhookHandler) => Promise<boolean> {
  const underWay = new Map<string, Promise<boolean>>()
  const owed = new Set<string>()

  /** Claims the id first, so that another process does not handle a duplicate. Releases it if the handler fails. */
  async function handleOnce(event: WebhookEvent, handle: WebhookHandler): Promise<boolean> {
    if (owed.has(event.id)) await releaseClaim(event.id)
    if (!(await seen.claim(event.id))) return false
    try {
      await handle(event)
    } catch (error) {
      await releaseClaim(event.id).catch((cause) => {
        throw new AggregateError(
          [error, cause],
          'The handler failed, and the event could not be released for another attempt.',
          {
            cause: error,
          },
        )
      })
      throw error
    }
    return true
  }

  /** Releases a claim. If the store fails, the id stays in `owed`: the next delivery must not count as a duplicate. */
  async function releaseClaim(id: string): Promise<void> {
    owed.add(id)
    if (owed.size > owedMax) owed.delete(owed.values().next().value!)
    await seen.forget(id)
    owed.delete(id)
  }

  return (event, handle) => {
    const earlier = underWay.get(event.id)
    if (earlier) return earlier.then(() => false)
    const handling = handleOnce(event, handle).finally(() => underWay.delete(event.id))
    underWay.set(event.id, handling)
    return handling
  }
}

/** The ids of handled events. Use a database table if several processes receive deliveries. */
export interface Seen {
  /** Claims an id; returns whether it was new. Of two concurrent claims exactly one returns true. */
  claim(id: string): boolean | Promise<boolean>
  /** Releases an id, because its handler failed. A returned promise is awaited. */
  forget(id: string): unknown
}

/** Remembers the last `idsMax` ids in memory. Throws a TypeError for an invalid number. */
export function createSeen(idsMax = 10_000): Seen {
  if (!Number.isSafeInteger(idsMax) || idsMax < 1) throw new TypeError('idsMax must be a whole number of at least 1.')
  const ids = new Set<string>()
  return {
    claim(id) {
      const isNew = !ids.delete(id)
      ids.add(id)
      if (ids.size > idsMax) ids.delete(ids.values().next().value!)
      return isNew
    },
    forget: (id) => ids.delete(id),
  }
}
