/** `localStorage` lasts between visits, `sessionStorage` until the window is closed. */
type Storage = 'localStorage' | 'sessionStorage'

/** A value that this browser stores; null if there is none, or if storage is forbidden. */
export function readMemory(key: string, storage: Storage = 'localStorage'): string | null {
  try {
    return window[storage].getItem(key)
  } catch {
    return null
  }
}

/** Stores a value, or removes it if null. Failures are ignored, because nothing depends on stored values. */
export function writeMemory(key: string, value: string | null, storage: Storage = 'localStorage'): void {
  try {
    if (value === null) window[storage].removeItem(key)
    else window[storage].setItem(key, value)
  } catch {
    // Storage is forbidden or full. Until the page is reloaded, it works without stored values.
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
