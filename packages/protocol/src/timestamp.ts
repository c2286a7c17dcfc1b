/** Formats a time as ISO 8601 in UTC with milliseconds, the format of all times in the API. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
