/** What may be done in a window of time, beside the requests that a plan allows. */
export interface Allowance {
  readonly limit: number
  readonly windowSeconds: number
  /** What is counted and by what, as the end of a sentence. */
  readonly of: string
}

/** Limits against abuse, by the names that `RateLimit-Policy` has for them. */
export const allowances = {
  indexing: perHour(30, 'unknown skills of one address that are indexed'),
  vote: perHour(10, 'helpful votes of one address for one review'),
  report: perHour(5, 'reports of one skill by guests at one address'),
  reports: perHour(50, 'reports by guests at one address'),
  request: perHour(30, 'requests for skills by guests at one address'),
  takedown: perHour(20, 'takedown notices of one address, or counter-notices in one case'),
  agent: perHour(200, 'new agents of one address'),
  setup: perHour(10, 'codes that one address tries'),
  setups: perHour(500, 'codes that all addresses try'),
  verification: { limit: 20, windowSeconds: 86_400, of: 'verifications that one user begins' },
} as const satisfies Record<string, Allowance>

export type AllowanceName = keyof typeof allowances

function perHour(limit: number, of: string): Allowance {
  return { limit, windowSeconds: 3600, of }
}
