import type { WebhookEvent } from '@skillstead/protocol'
import type { WebhookHandler } from './create-receiver.ts'
import type { Seen } from './seen.ts'

/** Of these there are few: a store took a claim, and was away when it was to be given back. */
const owedMax = 10_000

/**
 * Handles an event unless that was done before, and answers whether it was new. One that comes while it is handled
 * already waits for the end of that, and fails if that fails.
 */
export function createHandling(seen: Seen): (event: WebhookEvent, handle: WebhookHandler) => Promise<boolean> {
  const underWay = new Map<string, Promise<boolean>>()
  const owed = new Set<string>()

  /** Claims first: what comes in the middle must not run too. A claim that came to nothing is given back. */
  async function handleOnce(event: WebhookEvent, handle: WebhookHandler): Promise<boolean> {
    if (owed.has(event.id)) await giveBack(event.id)
    if (!(await seen.claim(event.id))) return false
    try {
      await handle(event)
    } catch (error) {
      await giveBack(event.id).catch((cause) => {
        throw new AggregateError([error, cause], 'The handler failed, and the claim on its event stands.', {
          cause: error,
        })
      })
      throw error
    }
    return true
  }

  /** A claim that cannot be given back now is remembered, or the next delivery would be taken for a second one. */
  async function giveBack(id: string): Promise<void> {
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
