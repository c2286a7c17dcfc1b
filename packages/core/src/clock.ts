/** Where the time comes from: milliseconds since 1970, UTC. Tests hand in one that they set. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** ISO 8601 UTC with milliseconds, the one form in which the interface gives a time. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
