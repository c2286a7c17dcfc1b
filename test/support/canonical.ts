/** Canonical JSON (RFC 8785), written a second time: keys in the order of code units, no spaces, shortest forms. */
export function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${toCanonical(field)}`).join(',')}}`
}
