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

const key = 'recent-skills'
const recentMax = 8

/** The full names of the skills that this browser showed last, latest first. */
export function readRecentSkills(): string[] {
  const stored = readMemory(key)
  return stored ? stored.split(' ').slice(0, recentMax) : []
}

export function noteRecentSkill(fullName: string): void {
  const others = readRecentSkills().filter((name) => name !== fullName)
  writeMemory(key, [fullName, ...others].slice(0, recentMax).join(' '))
}
