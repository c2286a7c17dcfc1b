/** The skill that a call is about, as it named it. */
export interface WantedSkill {
  /** Full or short. */
  readonly name: string
  /** Where the call asks for one by its number. */
  readonly version?: string | undefined
}

/** How well an answer is known to be true. */
export interface Freshness {
  /** Since an upstream last vouched for it. */
  readonly ageSeconds: number
  /** Whether that was too long ago, or the last try to learn more failed. */
  readonly stale: boolean
}

/** What a registry asks of those it follows while it answers a call. The mirror attaches one; without it nothing is asked. */
export interface UpstreamPort {
  /**
   * Brings what the call is about, or lists where it names no skill, up to date: before it is answered, or behind the
   * answer, as the operator wants it. Waits for 2 s at most, and throws nothing that an upstream does.
   */
  freshen(wanted?: WantedSkill): Promise<void>
  /**
   * Looks for a skill that is not here, or a version of it. True where something came in, so that looking again helps.
   * Throws `upstream_failed`, `upstream_timeout` and `offline` where nobody knows whether there is one.
   */
  pull(wanted: WantedSkill): Promise<boolean>
  /** How fresh an answer about a skill is, or about lists where none is named; undefined for what is from here. */
  freshness(name?: string): Promise<Freshness | undefined>
}

/** The place where the mirror of a registry is attached once it follows somebody. */
export interface Upstreams {
  /** Undefined as long as nothing is followed. */
  readonly port: UpstreamPort | undefined
  attach(port: UpstreamPort | undefined): void
}

export function createUpstreams(): Upstreams {
  let port: UpstreamPort | undefined
  return {
    get port() {
      return port
    },
    attach: (attached) => void (port = attached),
  }
}
