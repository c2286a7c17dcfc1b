/** ISO 8601 UTC with milliseconds, the one form in which the interface gives a time. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
