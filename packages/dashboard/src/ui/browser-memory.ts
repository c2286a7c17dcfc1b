/** What this browser remembers of its user between visits; null where nothing is stored or storage is forbidden. */
export function readMemory(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a value where the browser permits it. */
export function writeMemory(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Nothing depends on it.
  }
}
