import { confirmSession, type DueSession, endUnconfirmed, takeDueSessions } from '@skillstead/core/internal'
import { AccountEnded } from './provider.ts'
import type { SignInParts } from './sign-in-routes.ts'

const everyMs = 60_000

/**
 * Every minute, asks the provider to confirm the accounts of the sessions that are due for it, and ends the sessions of
 * accounts that the provider no longer confirms. Returns a function that stops this and waits for open requests.
 */
export function startRefreshing(parts: SignInParts): () => Promise<void> {
  const { onError } = parts
  const { clock, closing } = parts.context
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  let cancel = schedule()

  function schedule(): () => void {
    return clock.setTimer(everyMs, () => {
      running = refreshDue(parts, () => isStopped)
        .catch((error: unknown) => (isStopped || closing.aborted ? undefined : onError(error)))
        .finally(() => {
          if (!isStopped) cancel = schedule()
        })
    })
  }

  return () => {
    isStopped = true
    cancel()
    return running
  }
}

async function refreshDue(parts: SignInParts, isStopped: () => boolean): Promise<void> {
  for (;;) {
    const due = await takeDueSessions(parts.context, parts.issuer)
    const answered = await Promise.all(due.map((session) => refresh(parts, session)))
    // If the provider answers no request, the next sessions are asked about a minute later.
    if (!answered.includes(true) || isStopped()) return
  }
}

/**
 * Confirms or ends one session; returns whether the provider answered. Without an answer the session stays valid until
 * an hour after its last confirmation.
 */
async function refresh({ context, provider, rules, onError }: SignInParts, session: DueSession): Promise<boolean> {
  const { secrets } = context
  try {
    const token = secrets.open(session.refresh_token)
    const { identity, refreshToken = token } = await provider.refresh(token, session.subject)
    await confirmSession(context, session, secrets.seal(refreshToken), identity, rules)
  } catch (error) {
    if (!(error instanceof AccountEnded)) {
      onError(error)
      return false
    }
    await endUnconfirmed(context, session.id, error.message)
  }
  return true
}
