/** Copies a cached response, so that callers cannot change it. Strings are shared, so copying is cheap. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T
  if (typeof value !== 'object' || value === null) return value
  // Define the fields instead of assigning them: untrusted data may have a field `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyJson(part)])) as T
}
