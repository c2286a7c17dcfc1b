import { readMemory, writeMemory } from './browser-memory.ts'

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
