/** A limit on an action in a window of time, in addition to the plan's limit on requests. */
export interface Allowance {
  readonly limit: number
  readonly windowSeconds: number
  /** What the limit counts, and for whom: the words after "at most N" in a sentence. */
  readonly of: string
}

/** Anti-abuse limits, by their names in `RateLimit-Policy`. */
export const allowances = {
  indexing: perHour(30, 'unknown skills that one address has indexed'),
  vote: perHour(10, 'helpful votes of one address for one review'),
  report: perHour(5, 'reports of one skill by guests at one address'),
  reports: perHour(50, 'reports by guests at one address'),
  request: perHour(30, 'requests for skills by guests at one address'),
  takedown: perHour(20, 'takedown notices of one address, or counter-notices in one case'),
  agent: perHour(200, 'new agents from one address'),
  setup: perHour(10, 'setup codes tried from one address'),
  setups: perHour(500, 'setup codes tried from all addresses'),
  exchange: perHour(600, 'tokens of CI jobs from one address'),
  evaluation: perHour(120, 'results of evaluations that one user posts'),
  replacement: { limit: 6, windowSeconds: 86_400, of: 'results that one user posts for one version' },
  verification: { limit: 20, windowSeconds: 86_400, of: 'verifications that one user begins' },
} as const satisfies Record<string, Allowance>

/** The name of an anti-abuse limit. */
export type AllowanceName = keyof typeof allowances

function perHour(limit: number, of: string): Allowance {
  return { limit, windowSeconds: 3600, of }
}
