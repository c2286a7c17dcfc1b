import { limits, type Requires, type Warning } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import type { Caller } from '../../kernel/caller.ts'
import type { StorageContext } from '../../storage/storage-context.ts'
import { toMeantName } from '../versions/stored-requires.ts'
import { lookUpWanted } from './look-up.ts'

interface InstalledVersion {
  readonly place: number
  readonly owner: string
  readonly requires: Requires
}

/**
 * By `place` of an installed version: the first skill that it requires and of which no version in the range is offered.
 * Leaves out skills that the caller may not see, and skills beyond the number that a resolution may have.
 */
export async function findWithdrawn(context: StorageContext, installed: readonly InstalledVersion[], caller: Caller) {
  const found = new Map<number, { readonly fullName: string; readonly range: string }>()
  const required = installed.flatMap(({ place, owner, requires }) =>
    requires.skills.map(({ name, range }) => {
      return { place, name: toMeantName(name, owner), range: parseVersionRange(range) }
    }),
  )
  if (required.length === 0) return found
  const names = [...new Set(required.map(({ name }) => name))].slice(0, limits.resolveSkillsMax)
  const meant = await lookUpWanted(context, names, caller)
  for (const { place, name, range } of required) {
    const skill = meant.get(name)
    if (!skill || !range || found.has(place)) continue
    if (skill.versions.some(({ version, isOffered }) => isOffered && range.includes(version))) continue
    found.set(place, { fullName: skill.fullName, range: range.text })
  }
  return found
}

/**
 * Warns an author of required skills that do not exist, or that have no version in the range. Missing skills or
 * versions are no errors, because they may be published later.
 */
export async function warnOfRequired(context: StorageContext, { skills }: Requires, owner: string, caller: Caller) {
  const names = new Set(skills.flatMap(({ name }) => [name, toMeantName(name, owner)]))
  const found = await lookUpWanted(context, [...names], caller)
  return skills.flatMap(({ name, range, optional }): Warning[] => {
    const meant = toMeantName(name, owner)
    const skill = found.get(meant)
    const isWithin = parseVersionRange(range)?.includes ?? (() => false)
    if (!skill) {
      if (optional) return []
      const message = `There is no skill '${meant}' that you may see. ${toAdvice(name, found.get(name)?.fullName)}`
      return [{ code: 'required_missing', message }]
    }
    if (skill.versions.some(({ version, isOffered }) => isOffered && isWithin(version))) return []
    return [
      { code: 'required_range', message: `${skill.fullName} has no version in the range ${range} that is offered.` },
    ]
  })
}

function toAdvice(name: string, other: string | undefined): string {
  if (name.includes('/')) return 'Publish it, or write another name in requires.'
  const example = other === undefined ? `owner/${name}` : other
  return `A name without an owner means a skill of the same owner. Publish it, or write ${example} in requires.`
}
