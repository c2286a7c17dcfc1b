import type { ClientKind } from './client-kinds.ts'

/** Properties of a call apart from its caller. */
export interface CallOptions {
  /** Whether the request counts as a download. False for HEAD, update checks and mirrors. Default: true. */
  readonly counts?: boolean
  /** Name of the calling program, as it reports itself. */
  readonly client?: string
  /** The kind of the calling program, which decides whether a counted read is a download or an install. Default: `api`. */
  readonly kind?: ClientKind
  /** Network address of the client, normalised for rate limits. Absent for calls inside the process. */
  readonly address?: string
  /** Token that proves that the call comes from an agent. */
  readonly agentToken?: string
  /** Token that proves that the call comes from a party to a takedown case. */
  readonly caseToken?: string
  /** Secret of a link that shares a private skill. */
  readonly shareToken?: string
  /**
   * Rejects the call with the reason of the signal, at once if the signal is already aborted. Queued writes of the call
   * are removed. A write that was already handed to the database may still be committed.
   */
  readonly signal?: AbortSignal | undefined
  /** Called before a costly operation runs. Throws to refuse the operation. */
  readonly requireRoom?: () => void
  /**
   * The key of the request in the cache of public responses, if the transport has already looked for the response
   * there. Default: the operation looks in the cache.
   */
  readonly cacheKey?: string | undefined
  /** Token of the session named by the browser's cookie. */
  readonly sessionToken?: string
}
