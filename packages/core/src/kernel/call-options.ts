/** Properties of a call apart from its caller. */
export interface CallOptions {
  /** False for requests that do not use a skill: HEAD, update checks, mirrors. Default: true, and downloads are counted. */
  readonly counts?: boolean
  /** The name of the calling program, as it reports itself. */
  readonly client?: string
  /** The client's network address, normalised for rate limits; absent for calls inside the process. */
  readonly address?: string
  /** Proves that the call comes from an agent, or from a party to a takedown case. */
  readonly agentToken?: string
  readonly caseToken?: string
  /** The secret of a link that shares a private skill. */
  readonly shareToken?: string
  /** The session that a browser's cookie names. */
  readonly sessionToken?: string
}
