/** What a caller does with an answer must not change the one that is held. Texts are shared, so that it costs little. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T
  if (typeof value !== 'object' || value === null) return value
  // Defined, not assigned: strangers may name a field `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyJson(part)])) as T
}
